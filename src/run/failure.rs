//! A failed attempt, and the part of it that a human is shown.

use crate::plan::one_line;
use crate::terminal::{plain, visible};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Short reason.
    pub why: String,
    /// The end of the output.
    pub tail: String,
    /// Whether only the exit status is known, so that the end of the output must explain it.
    pub exited: bool,
}

/// Maximum number of characters of output that are shown.
const LONGEST: usize = 120;

impl Failure {
    /// The reason on one line, followed by the last output if only the exit status is known.
    pub fn shown(&self) -> String {
        let why = one_line(&self.why);
        let printed = last_line(&self.tail).filter(|_| self.exited);
        printed.map_or_else(|| why.clone(), |line| format!("{why}: {line}"))
    }
}

/// The last line with content, shortened and without control characters.
fn last_line(text: &str) -> Option<String> {
    let text = plain(text);
    let line = text.split(['\n', '\r']).rev().map(str::trim).find(|line| !line.is_empty())?;
    let cut = line.char_indices().nth(LONGEST).map(|(at, _)| format!("{}…", &line[..at]));
    Some(visible(&cut.unwrap_or_else(|| line.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(why: &str, tail: &str) -> String {
        let exited = !why.starts_with("no file");
        Failure { why: why.into(), tail: tail.into(), exited }.shown()
    }

    #[test]
    fn a_bare_exit_is_shown_with_the_last_output_line() {
        assert_eq!(
            shown("exit status 1", "compiling\noops: cannot compile\n\n"),
            "exit status 1: oops: cannot compile"
        );
        assert_eq!(shown("killed by signal 9 (KILL)", "half of it"), "killed by signal 9 (KILL): half of it");
        assert_eq!(shown("exit status 1", " \n"), "exit status 1");
        assert_eq!(
            shown("no file that matches \"a\" was written", "done"),
            "no file that matches \"a\" was written"
        );
    }

    #[test]
    fn the_last_output_line_is_shortened_and_has_no_control_characters() {
        assert_eq!(
            shown("exit status 1", "10%\r100%\r\n\u{1b}[31mno\u{1b}[0m \u{7}bell"),
            "exit status 1: no ^Gbell"
        );
        let long = shown("exit status 1", &"ä".repeat(5000));
        assert_eq!(long.chars().count(), "exit status 1: ".len() + LONGEST + 1);
    }
}

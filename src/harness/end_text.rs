//! Messages about how a launch ended.

use super::{Ending, Progress, Signal};
use crate::outcome::{Outcome, Usage};
use crate::process::{Exit, Limit};
use crate::prompt::span;
use serde_json::Value;

/// A failed ending without any output.
pub fn failed(why: String) -> Ending {
    let (message, tail, refusals) = (String::new(), String::new(), Vec::new());
    Ending { outcome: Outcome::Failed { why }, message, usage: Usage::default(), refusals, tail }
}

/// The ending of a process without output.
pub fn exited(exit: Exit) -> Ending {
    let mut ending = failed(String::new());
    ending.outcome = Outcome::Exited { why: exit_words(exit) };
    ending
}

/// A note for the progress window.
pub fn note(text: impl Into<String>) -> Signal {
    Signal::Progress(Progress::Note { text: text.into() })
}

/// The note that a line was too long to keep.
pub fn cut_line(lost: u64) -> Signal {
    note(format!("a line was cut: the output file has {lost} more bytes"))
}

/// The outcome if the final message is too long to read; a retry would not help.
pub fn too_long(what: &str) -> Outcome {
    let most = super::sink::LINE >> 20;
    Outcome::FailedForGood {
        why: format!("{what} is too long: more than {most} MiB in one line; ask for a shorter report"),
    }
}

/// The first non-empty line, at most 400 characters.
pub fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    cut(line, 400).to_owned()
}

/// The start of a text, cut between two words if possible, because half of a secret would not be masked.
pub fn cut(text: &str, most: usize) -> &str {
    let Some((end, next)) = text.char_indices().nth(most) else { return text };
    let is_edge = |c: char| c.is_whitespace() || matches!(c, '"' | '\'');
    let kept = &text[..end];
    if is_edge(next) { kept } else { kept.rfind(is_edge).map_or(kept, |at| kept[..at].trim_end()) }
}

/// The questions of the question tool, with their options.
pub fn questions(asked: &Value) -> String {
    let text =
        |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let one = |asked: &Value| {
        let options = asked.get("options").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let option = |o: &Value| match text(o, "description") {
            description if description.is_empty() => text(o, "label"),
            description => format!("{} ({description})", text(o, "label")),
        };
        let options: Vec<String> = options.iter().map(option).collect();
        let choice = if options.is_empty() { String::new() } else { format!(" {}", options.join(" | ")) };
        format!("{}{choice}", text(asked, "question"))
    };
    let questions = asked.as_array().map(Vec::as_slice).unwrap_or_default();
    let lines: Vec<String> = questions.iter().map(one).collect();
    if lines.is_empty() {
        "the agent asked for input without saying what it needs".to_owned()
    } else {
        lines.join("\n")
    }
}

pub fn exit_words(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("exit status {code}"),
        Exit::Signal(signal) => format!("killed by signal {signal}{}", signal_name(signal)),
        Exit::Stuck => "it could not be killed (still running after SIGKILL)".to_owned(),
    }
}

pub fn limit_words(limit: Limit) -> String {
    match limit {
        Limit::Wall(limit) => format!("ran longer than {}", span(limit)),
        Limit::Idle(limit) => format!("silent for {}", span(limit)),
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGHUP => " (HUP)",
        libc::SIGINT => " (INT)",
        libc::SIGQUIT => " (QUIT)",
        libc::SIGILL => " (ILL)",
        libc::SIGABRT => " (ABRT)",
        libc::SIGFPE => " (FPE)",
        libc::SIGKILL => " (KILL)",
        libc::SIGSEGV => " (SEGV)",
        libc::SIGPIPE => " (PIPE)",
        libc::SIGTERM => " (TERM)",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_line_is_cut_between_words_if_possible() {
        let long = format!("{} sk-ant-0123456789", "word ".repeat(79));
        assert_eq!(first_line(&format!("\n  {long}\nmore")), "word ".repeat(79).trim_end());
        assert_eq!(first_line("  short \n"), "short");
        assert_eq!(first_line(&"ä".repeat(500)), "ä".repeat(400), "one word is cut where it must be");
        assert_eq!(cut(r#"{"key":"value"}"#, 10), r#"{"key":"#);
    }
}

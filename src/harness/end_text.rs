//! How an end is put into a few words.

use super::{Ending, Progress, Signal};
use crate::outcome::{Outcome, Usage};
use crate::process::{Exit, Limit};
use crate::prompt::span;
use serde_json::Value;

/// An ending without any evidence.
pub fn failed(why: String) -> Ending {
    let (message, tail, refusals) = (String::new(), String::new(), Vec::new());
    Ending { outcome: Outcome::Failed { why }, message, usage: Usage::default(), refusals, tail }
}

/// The ending of a process that has told nothing.
pub fn exited(exit: Exit) -> Ending {
    let mut ending = failed(String::new());
    ending.outcome = Outcome::Exited { why: exit_words(exit) };
    ending
}

/// A note for the window.
pub fn note(text: impl Into<String>) -> Signal {
    Signal::Progress(Progress::Note { text: text.into() })
}

/// That a line was too long to be read whole.
pub fn cut_line(lost: u64) -> Signal {
    note(format!("a line was cut: {lost} more bytes are in the output's file only"))
}

/// The end of a launch whose last word came, and was too long to be read. The next one would be as long.
pub fn too_long(what: &str) -> Outcome {
    let most = super::sink::LINE >> 20;
    Outcome::FailedForGood {
        why: format!(
            "{what} came, and was too long to be read: more than {most} MiB in one line; ask for a shorter report"
        ),
    }
}

/// The first line that says something, of bearable length.
pub fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    cut(line, 400).to_owned()
}

/// The beginning of a text, cut between two words where it has any: half of a secret would be masked by nobody.
pub fn cut(text: &str, most: usize) -> &str {
    let Some((end, next)) = text.char_indices().nth(most) else { return text };
    let is_edge = |c: char| c.is_whitespace() || matches!(c, '"' | '\'');
    let kept = &text[..end];
    if is_edge(next) { kept } else { kept.rfind(is_edge).map_or(kept, |at| kept[..at].trim_end()) }
}

/// The question tool's questions, with what can be chosen.
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

/// How a process ended.
pub fn exit_words(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("exit status {code}"),
        Exit::Signal(signal) => format!("killed by signal {signal}{}", signal_name(signal)),
        Exit::Stuck => "it could not be killed (still running after SIGKILL)".to_owned(),
    }
}

/// Which limit was reached.
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
    fn a_first_line_is_cut_between_words_where_it_has_any() {
        let long = format!("{} sk-ant-0123456789", "word ".repeat(79));
        assert_eq!(first_line(&format!("\n  {long}\nmore")), "word ".repeat(79).trim_end());
        assert_eq!(first_line("  short \n"), "short");
        assert_eq!(first_line(&"ä".repeat(500)), "ä".repeat(400), "one word is cut where it must be");
        assert_eq!(cut(r#"{"key":"value"}"#, 10), r#"{"key":"#);
    }
}

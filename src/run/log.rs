//! The log's lines (SPEC section 6), without their `[superpower] ` prefix.

use super::state::{Reason, Run};

/// `3/13`, for a stage by its index.
pub fn place(run: &Run, stage: usize) -> String {
    format!("{}/{}", stage + 1, run.plan.total())
}

/// The run is paused; what to type next.
pub fn paused(run: &Run, reason: Reason) -> String {
    let name = run.plan.name();
    match reason {
        Reason::Gate => format!("PAUSED — resume with: :Superpower resume {name}"),
        Reason::NeedsHuman => "PAUSED (needs-human) — answer with: :Superpower retry ANSWER".into(),
        other => format!("PAUSED ({}) — resume with: :Superpower resume {name}", other.word()),
    }
}

/// `WORD  rest`, and the comment behind a colon where there is one.
pub fn with_comment(line: String, comment: &str) -> String {
    let comment = crate::plan::one_line(comment);
    if comment.is_empty() { line } else { format!("{line}: {comment}") }
}

/// Milliseconds as `1h 12m`, `12m 5s`, `8s`.
pub fn duration(ms: i64) -> String {
    let seconds = ms.max(0) / 1000;
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{rest}s"),
        (0, _) => format!("{minutes}m {rest}s"),
        _ => format!("{hours}h {minutes}m"),
    }
}

/// `2 approvals`, `1 approval`.
pub fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// `text` with what a terminal would obey made visible: control characters as `^[`, those that turn the direction of
/// writing as `<202e>`.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\u{0}'..='\u{1f}' => {
                shown.push('^');
                shown.push(char::from(letter as u8 + 0x40));
            }
            '\u{7f}' => shown.push_str("^?"),
            '\u{80}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' => shown.push_str(&format!("<{:04x}>", u32::from(letter))),
            _ => shown.push(letter),
        }
    }
    shown
}

/// A text without terminal escapes.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            out.push(c);
        } else if chars.as_str().starts_with('[') {
            // Control sequence: parameters up to a final letter.
            let _ = chars.by_ref().skip(1).find(|c| matches!(c, '@'..='~'));
        }
    }
    out
}

//! Text of the log lines, without their `[superpower] ` prefix.

use super::state::{Reason, Run};

/// The position of a stage, for example `3/13`.
pub fn place(run: &Run, stage: usize) -> String {
    format!("{}/{}", stage + 1, run.plan.total())
}

/// The line for a pause, with the command that ends it.
pub fn paused(run: &Run, reason: Reason) -> String {
    let name = run.plan.name();
    match reason {
        Reason::Gate => format!("PAUSED — resume with: :Superpower resume {name}"),
        Reason::NeedsHuman if run.held().is_none() => {
            format!("PAUSED (needs-human) — resume with: :Superpower resume {name}")
        }
        Reason::NeedsHuman => "PAUSED (needs-human) — answer with: :Superpower retry ANSWER".into(),
        other => format!("PAUSED ({}) — resume with: :Superpower resume {name}", other.word()),
    }
}

/// Appends the comment after a colon, if there is one.
pub fn with_comment(line: String, comment: &str) -> String {
    let comment = crate::plan::one_line(comment);
    if comment.is_empty() { line } else { format!("{line}: {comment}") }
}

/// Formats milliseconds as `1h 12m`, `12m 5s` or `8s`.
pub fn duration(ms: i64) -> String {
    let seconds = ms.max(0) / 1000;
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{rest}s"),
        (0, _) => format!("{minutes}m {rest}s"),
        _ => format!("{hours}h {minutes}m"),
    }
}

/// `2 approvals` or `1 approval`.
pub fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

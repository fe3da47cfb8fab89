//! What calls the user, who may look elsewhere, and in which words. Names and words may come from a repository or from an
//! agent, so no text can control a terminal, hide what it says, or be long.

use crate::run::effect::Notice;
use crate::run::reason::Reason;
use crate::terminal::visible;
use serde::Serialize;
use std::path::PathBuf;

/// The longest title, in characters.
const TITLE: usize = 80;
/// The longest text, in characters.
const BODY: usize = 240;

/// A call for the user, as an event for an editor.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename = "attention")]
pub struct UserCall {
    pub root: PathBuf,
    pub run_id: String,
    pub superpower: String,
    pub reason: CallReason,
    pub title: String,
    pub body: String,
}

/// Why the user is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CallReason {
    Gate,
    /// An agent, or a stage that is done by hand, needs them.
    Asks,
    Failed,
    Complete,
}

/// Why a notice calls the user, and in which words; `leaves` says that whoever is to be called ends the drive.
pub(super) fn of(notice: &Notice, total: usize, leaves: bool) -> Option<(CallReason, String)> {
    match notice {
        Notice::GateOpened { stage, label, .. } => {
            Some((CallReason::Gate, format!("stage {stage}/{total} waits at its gate: {label}")))
        }
        Notice::RunPaused { stage, reason, detail } => {
            let (reason, what) = match reason {
                Reason::Gate | Reason::User => return None,
                Reason::Interrupted if leaves => return None,
                Reason::NeedsHuman => (CallReason::Asks, "asks"),
                reason => (CallReason::Failed, reason.word()),
            };
            let detail = if detail.is_empty() { String::new() } else { format!(": {detail}") };
            Some((reason, format!("stage {stage}/{total} {what}{detail}")))
        }
        Notice::RunFinished { state: "complete", summary } => {
            let more = summary.strip_prefix("complete").unwrap_or_default();
            Some((CallReason::Complete, format!("complete{more}")))
        }
        _ => None,
    }
}

/// The title of a call. It begins with a word of our own, so that no name is taken for an option or a control sequence.
pub(super) fn title(superpower: &str) -> String {
    line(&format!("superpower: {superpower}"), TITLE)
}

/// The text of a call.
pub(super) fn body(words: &str) -> String {
    line(words, BODY)
}

/// One line of at most `most` characters, in which everything is visible.
fn line(text: &str, most: usize) -> String {
    // What is cut off anyway needs no work.
    let some: String = text.chars().take(16 * most).collect();
    let words: Vec<&str> = some.split_whitespace().collect();
    let shown = visible(&words.join(" "));
    match shown.char_indices().nth(most) {
        None => shown,
        Some(_) => shown.chars().take(most - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paused(reason: Reason, detail: &str) -> Notice {
        Notice::RunPaused { stage: 2, reason, detail: detail.into() }
    }

    #[test]
    fn what_waits_asks_fails_or_is_complete_calls_the_user() {
        let gate = Notice::GateOpened { stage: 3, gate: "3.1".into(), label: "review".into() };
        let finished = |state, summary: &str| Notice::RunFinished { state, summary: summary.to_owned() };
        for (notice, expected) in [
            (gate, Some((CallReason::Gate, "stage 3/8 waits at its gate: review"))),
            (paused(Reason::NeedsHuman, "which?"), Some((CallReason::Asks, "stage 2/8 asks: which?"))),
            (paused(Reason::Failed, ""), Some((CallReason::Failed, "stage 2/8 failed"))),
            (paused(Reason::Auth, "log in"), Some((CallReason::Failed, "stage 2/8 auth: log in"))),
            (
                paused(Reason::Interrupted, "disk full"),
                Some((CallReason::Failed, "stage 2/8 interrupted: disk full")),
            ),
            (paused(Reason::User, "paused by ann"), None),
            (paused(Reason::Gate, ""), None),
            (finished("complete", "complete in 3s"), Some((CallReason::Complete, "complete in 3s"))),
            (finished("cancelled", "cancelled by ann"), None),
            (finished("rejected", "rejected by ann"), None),
            (Notice::RunStarted, None),
        ] {
            let call = of(&notice, 8, false);
            assert_eq!(call, expected.map(|(reason, words)| (reason, words.to_owned())), "{notice:?}");
        }
    }

    #[test]
    fn who_ends_the_drive_is_not_called_for_it() {
        assert_eq!(of(&paused(Reason::Interrupted, "the editor exited"), 8, true), None);
        assert!(of(&paused(Reason::Failed, "no"), 8, true).is_some());
    }

    #[test]
    fn a_text_is_one_visible_line_that_is_not_long() {
        assert_eq!(body("stage 1/2 asks: a\r\n  b\tc"), "stage 1/2 asks: a b c");
        assert_eq!(body("x\u{1b}]0;t\u{7}\u{9c}\u{202e}y"), "x^[]0;t^G<009c><202e>y");
        let long = title(&"n".repeat(100_000));
        assert_eq!((long.chars().count(), long.ends_with("n…")), (TITLE, true));
        assert_eq!(body(&"\u{202e}".repeat(5000)).chars().count(), BODY);
    }
}

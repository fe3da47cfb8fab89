//! How a launch ended, as its checkpoint records it.

use super::status::Status;
use crate::outcome::Outcome;

/// Length limit of notes, in characters.
const NOTES: usize = 500;

/// How a launch ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Passed {
        notes: String,
    },
    /// It failed, and no further attempt follows.
    Failed {
        why: String,
    },
    /// It waits for something outside of the run.
    Blocked {
        why: String,
    },
}

impl End {
    /// Converts an outcome. Returns `None` if the step continues by itself (after a limit, or with another attempt),
    /// so that its checkpoint stays in progress.
    pub fn of(outcome: &Outcome, message: &str, last_attempt: bool) -> Option<Self> {
        match outcome {
            Outcome::Passed => Some(Self::Passed { notes: summary(message) }),
            Outcome::Failed { why } | Outcome::Exited { why } | Outcome::Transient { why } => {
                last_attempt.then(|| Self::Failed { why: why.clone() })
            }
            Outcome::FailedForGood { why } | Outcome::VerdictFail { why } => {
                Some(Self::Failed { why: why.clone() })
            }
            Outcome::Blocked { why } | Outcome::Auth { why } => Some(Self::Blocked { why: why.clone() }),
            Outcome::NeedsHuman { question } => Some(Self::Blocked { why: question.clone() }),
            Outcome::Limited { .. } => None,
        }
    }

    pub(super) fn status(&self) -> Status {
        match self {
            Self::Passed { .. } => Status::Passed,
            Self::Failed { .. } => Status::Failed,
            Self::Blocked { .. } => Status::Blocked,
        }
    }

    pub(super) fn notes(&self) -> String {
        match self {
            Self::Passed { notes } => short(notes),
            Self::Failed { why } if why.starts_with("ERROR: ") => short(why),
            Self::Failed { why } => short(&format!("ERROR: {why}")),
            Self::Blocked { why } => short(why),
        }
    }
}

/// The first paragraph of a message, joined to one line.
pub fn summary(message: &str) -> String {
    let paragraph = message.trim().split("\n\n").find(|part| !part.trim().is_empty()).unwrap_or("");
    paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn short(text: &str) -> String {
    if text.chars().count() <= NOTES {
        return text.to_owned();
    }
    text.chars().take(NOTES - 1).chain(['…']).collect()
}

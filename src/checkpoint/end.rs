//! How a launch ended, as its checkpoint says it.

use super::status::Status;
use crate::outcome::Outcome;

/// Characters of notes.
const NOTES: usize = 500;

/// How a launch ended, for the checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// With success.
    Passed {
        /// A brief summary.
        notes: String,
    },
    /// Without, and no further attempt follows.
    Failed {
        /// What went wrong.
        why: String,
    },
    /// It waits for something outside.
    Blocked {
        /// For what.
        why: String,
    },
}

impl End {
    /// What an outcome is to the checkpoint. `None` is no end: the step stays in progress, since it goes on by itself
    /// (a limit, or a further attempt).
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

/// The first paragraph of a message, as one line.
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

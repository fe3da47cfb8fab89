//! What differs from what the user agreed to.

use crate::terminal::visible;
use serde::Serialize;

/// A file that is not what the user agreed to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Change {
    /// Its path, relative to the project.
    pub path: String,
    /// What happened to it.
    pub change: Changed,
}

/// What happened to a file since the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Changed {
    /// It was not there.
    Added,
    /// It had other contents.
    Changed,
    /// It is gone, or is used no more.
    Removed,
}

impl Changed {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Removed => "removed",
        }
    }
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The name of a file is written by others too, and must not look like more than one.
        write!(f, "{} ({})", visible(&self.path), self.change.word())
    }
}

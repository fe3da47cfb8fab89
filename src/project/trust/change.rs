//! Differences from what the user agreed to.

use crate::terminal::visible;
use serde::Serialize;

/// A file that differs from what the user agreed to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Change {
    /// Relative to the project.
    pub path: String,
    pub change: Changed,
}

/// How a file differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Changed {
    /// It did not exist.
    Added,
    /// It had other contents.
    Changed,
    /// It no longer exists, or is no longer used.
    Removed,
}

impl Changed {
    /// The user-visible word.
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
        // A repository chooses the file's name, which must not look like several names.
        write!(f, "{} ({})", visible(&self.path), self.change.word())
    }
}

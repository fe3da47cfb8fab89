//! A launch whose files are to be found, and which of them are worth listing.

use chrono::{DateTime, Utc};

/// A launch that has ended, or works still, and whose files are to be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// When it began.
    pub since: DateTime<Utc>,
    /// When it ended; none for one that works still.
    pub until: Option<DateTime<Utc>>,
    /// The files that were touched meanwhile, where that is known: what it has written is among them.
    pub touched: Option<Vec<String>>,
}

/// Whether a written file is worth listing: inside the project, and none of our own.
pub(super) fn is_output(file: &str) -> bool {
    let own = [".claude/state/", ".claude/logs/"].iter().any(|own| file.starts_with(own));
    let name = file.rsplit('/').next().unwrap_or(file);
    let outside = file.starts_with('/') || file.split('/').any(|part| part == "..");
    !(file.is_empty() || own || outside || name == "metadata.json" || file.contains("/.metadata.lock"))
}

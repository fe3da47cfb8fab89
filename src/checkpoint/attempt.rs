//! A launch whose files are looked up, and which of them a checkpoint lists.

use chrono::{DateTime, Utc};

/// A launch that has ended or still works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub since: DateTime<Utc>,
    /// `None` while it works.
    pub until: Option<DateTime<Utc>>,
    /// The files that were touched in that time, if known. The attempt's files are among them.
    pub touched: Option<Vec<String>>,
}

/// Whether a checkpoint lists the file: it is inside the project, and not one of our own.
pub(super) fn is_output(file: &str) -> bool {
    let own = [".claude/state/", ".claude/logs/"].iter().any(|own| file.starts_with(own));
    let name = file.rsplit('/').next().unwrap_or(file);
    let outside = file.starts_with('/') || file.split('/').any(|part| part == "..");
    !(file.is_empty() || own || outside || name == "metadata.json" || file.contains("/.metadata.lock"))
}

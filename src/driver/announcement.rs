//! What a drive announces once a step is published.

use crate::run::effect::Notice;
use chrono::{DateTime, Utc};
use serde_json::Value;

/// An announcement.
pub(super) enum Announcement {
    /// A line of the log, without its time.
    Log(String),
    /// A line of the log that ends with a time.
    LogUntil(String, DateTime<Utc>),
    /// A message for the user, with its level.
    Notice(&'static str, String),
    /// The answer to a user's request.
    Answer(String),
    /// The run has paused or finished.
    Run(Notice),
    /// An event for the editor.
    Event(Value),
}

//! What others are told of a run, once a step is published.

use crate::run::effect::Notice;
use chrono::{DateTime, Utc};
use serde_json::Value;

/// What others are told of a run.
pub(super) enum Announcement {
    /// A line of the log, without its time.
    Log(String),
    /// The same, with a time at its end.
    LogUntil(String, DateTime<Utc>),
    /// Something for people, with its level.
    Notice(&'static str, String),
    /// The same, in answer to what they asked.
    Answer(String),
    /// What the run came to.
    Run(Notice),
    /// An event for the editor.
    Event(Value),
}

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
    /// An event for everybody who follows.
    Event(Value),
    /// A question with its id, which stays open until it is settled.
    Question(String, Value),
    /// The question with this id is no longer open.
    Settled(String, Value),
    /// The user is called, because something asks them: the stage's position, and what is asked.
    Asks(usize, String),
    /// A question that Lua answers.
    ForLua(String, Value),
}

//! The five statuses of a checkpoint, what may follow what, and times as others write them.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A checkpoint's status: the five that we write. Others of this family write more; those are read and kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Status {
    /// Not begun.
    NotStarted,
    /// An agent works on it, or was interrupted.
    InProgress,
    /// Done.
    Passed,
    /// Ended without success.
    Failed,
    /// Waits for something outside.
    Blocked,
}

/// A step that the protocol does not know.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("a checkpoint that is \"{}\" cannot become \"{}\"; it can become {}", .from.text(), .to.text(), named(.legal))]
pub struct IllegalTransition {
    /// What it is.
    pub from: Status,
    /// What it was to become.
    pub to: Status,
    /// What it may become.
    pub legal: &'static [Status],
}

impl Status {
    /// All of them, in the order of the protocol's text.
    pub const ALL: [Self; 5] =
        [Self::NotStarted, Self::InProgress, Self::Passed, Self::Failed, Self::Blocked];

    /// As it is written.
    pub const fn text(self) -> &'static str {
        match self {
            Self::NotStarted => "NOT_STARTED",
            Self::InProgress => "IN_PROGRESS",
            Self::Passed => "PASSED",
            Self::Failed => "FAILED",
            Self::Blocked => "BLOCKED",
        }
    }

    /// Reads it whatever the case, and with blanks or hyphens for underscores. `None` for a foreign one.
    pub fn read(text: &str) -> Option<Self> {
        let plain = text.trim().to_ascii_uppercase().replace([' ', '-'], "_");
        Self::ALL.into_iter().find(|status| status.text() == plain)
    }

    /// What may follow. Every end leads back through `IN_PROGRESS` only, so that no end is ever rewritten into another.
    pub const fn legal(self) -> &'static [Self] {
        match self {
            Self::InProgress => &[Self::InProgress, Self::Passed, Self::Failed, Self::Blocked],
            Self::NotStarted | Self::Passed | Self::Failed | Self::Blocked => &[Self::InProgress],
        }
    }

    /// `to`, where it may follow.
    pub fn step(self, to: Self) -> Result<Self, IllegalTransition> {
        let legal = self.legal();
        if legal.contains(&to) { Ok(to) } else { Err(IllegalTransition { from: self, to, legal }) }
    }

    /// Whether it is an end.
    pub const fn is_end(self) -> bool {
        matches!(self, Self::Passed | Self::Failed | Self::Blocked)
    }
}

fn named(legal: &[Status]) -> String {
    legal.iter().map(|status| format!("\"{}\"", status.text())).collect::<Vec<_>>().join(", ")
}

/// A time as we write it: UTC, whole seconds, `Z`.
pub fn stamp(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// A time as anybody writes it: with `Z`, with an offset, without either (then UTC), with a blank for `T`, or a bare
/// date.
pub fn read_time(text: &str) -> Option<DateTime<Utc>> {
    let text = text.trim();
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Some(time.to_utc());
    }
    for offset in ["%Y-%m-%d %H:%M:%S%.f%#z", "%Y-%m-%dT%H:%M:%S%.f%#z", "%Y-%m-%dT%H:%M%#z"] {
        if let Ok(time) = DateTime::parse_from_str(text, offset) {
            return Some(time.to_utc());
        }
    }
    for naive in ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"] {
        if let Ok(time) = NaiveDateTime::parse_from_str(text.trim_end_matches(['Z', 'z']), naive) {
            return Some(time.and_utc());
        }
    }
    NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().map(|day| day.and_time(NaiveTime::MIN).and_utc())
}

//! The five statuses of a checkpoint, their transitions, and times as other tools write them.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The five statuses that we write. Other tools write more; those are read and preserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Status {
    NotStarted,
    /// An agent works on it, or was interrupted.
    InProgress,
    Passed,
    Failed,
    /// It waits for something outside of the run.
    Blocked,
}

/// A transition that the protocol does not allow.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("a checkpoint that is \"{}\" cannot become \"{}\"; it can become {}", .from.text(), .to.text(), named(.legal))]
pub struct IllegalTransition {
    pub from: Status,
    pub to: Status,
    pub legal: &'static [Status],
}

impl Status {
    /// In the order of the protocol's text.
    pub const ALL: [Self; 5] =
        [Self::NotStarted, Self::InProgress, Self::Passed, Self::Failed, Self::Blocked];

    /// The text in the document.
    pub const fn text(self) -> &'static str {
        match self {
            Self::NotStarted => "NOT_STARTED",
            Self::InProgress => "IN_PROGRESS",
            Self::Passed => "PASSED",
            Self::Failed => "FAILED",
            Self::Blocked => "BLOCKED",
        }
    }

    /// Parses a status in any case, with spaces or hyphens instead of underscores. `None` for an unknown one.
    pub fn read(text: &str) -> Option<Self> {
        let plain = text.trim().to_ascii_uppercase().replace([' ', '-'], "_");
        Self::ALL.into_iter().find(|status| status.text() == plain)
    }

    /// The allowed transitions. An ended checkpoint changes through `IN_PROGRESS` only, so that one end never
    /// replaces another.
    pub const fn legal(self) -> &'static [Self] {
        match self {
            Self::InProgress => &[Self::InProgress, Self::Passed, Self::Failed, Self::Blocked],
            Self::NotStarted | Self::Passed | Self::Failed | Self::Blocked => &[Self::InProgress],
        }
    }

    /// Returns `to` if the transition is allowed.
    pub fn step(self, to: Self) -> Result<Self, IllegalTransition> {
        let legal = self.legal();
        if legal.contains(&to) { Ok(to) } else { Err(IllegalTransition { from: self, to, legal }) }
    }

    /// Whether the step has ended.
    pub const fn is_end(self) -> bool {
        matches!(self, Self::Passed | Self::Failed | Self::Blocked)
    }
}

fn named(legal: &[Status]) -> String {
    legal.iter().map(|status| format!("\"{}\"", status.text())).collect::<Vec<_>>().join(", ")
}

/// Formats a time: UTC, whole seconds, `Z`.
pub fn stamp(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Parses a time as other tools write it: with `Z`, with an offset, without either (UTC), with a space instead of
/// `T`, or a bare date.
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

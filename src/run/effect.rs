//! Effects: what a step asks the driver to do.

use crate::outcome::Session;
use chrono::{DateTime, Utc};
use serde::Serialize;

/// An action of the driver, in order, after the step's events are on disk. What follows from the state itself needs no
/// effect: an agent that the state does not name is stopped, and the driver waits for the end of a delay that is part of the state.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Decide the stage's condition: reply with `FactDecided` for each fact it needs, then `StageDecided`.
    Decide {
        stage: usize,
    },
    /// Start an agent; reply with `AgentStarted`, `SessionOpened`, and one `AttemptEnded`.
    StartAgent {
        stage: usize,
        /// Serial number of the launch.
        launch: u32,
        /// Whether it continues the work of an earlier launch.
        resume: bool,
        /// The agent session to continue in.
        session: Option<Session>,
    },
    /// Record the files as they are now; later changes are under review at the next gate.
    TakeBaseline,
    OpenGate {
        stage: usize,
        visit: u32,
    },
    /// A line of the log, without its time.
    Log(String),
    /// The same with a time at its end. The writer formats it, because it knows the local time zone.
    LogUntil {
        /// The line up to the time.
        line: String,
        until: DateTime<Utc>,
    },
    /// A message for the user that is not a log line.
    Say(String),
    /// Notify listeners with a `User` event.
    Notify(Notice),
    /// Stop driving: nothing can happen until the next verb.
    Leave,
}

impl Effect {
    /// Whether this effect is a log line.
    pub fn is_line(&self) -> bool {
        matches!(self, Self::Log(_) | Self::LogUntil { .. })
    }

    /// The log line, if this effect is one; `clock` formats a time.
    pub fn into_line(self, clock: impl FnOnce(DateTime<Utc>) -> String) -> Option<String> {
        match self {
            Self::Log(line) => Some(line),
            Self::LogUntil { line, until } => Some(format!("{line} {}", clock(until))),
            _ => None,
        }
    }
}

/// A notification of listeners: the editor's `User` events.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Notice {
    RunStarted,
    /// A stage began; `stage` is its position from 1.
    StageStarted {
        /// Position from 1.
        stage: usize,
        visit: u32,
        label: String,
    },
    /// A stage ended: `passed`, `skipped`, `failed`, `approved`.
    StageFinished {
        /// Position from 1.
        stage: usize,
        label: String,
        outcome: &'static str,
        /// More about the outcome; may be empty.
        note: String,
    },
    GateOpened {
        /// Position from 1.
        stage: usize,
        /// `STAGE.VISIT`, as a decision names it.
        gate: String,
        label: String,
    },
    /// A gate was decided.
    GateDecided {
        /// Position from 1.
        stage: usize,
        /// `STAGE.VISIT`.
        gate: String,
        decision: super::event::Decision,
        comment: String,
        by: String,
        /// How, in words; empty where it is not known.
        how: String,
    },
    RunPaused {
        /// Position from 1.
        stage: usize,
        reason: super::state::Reason,
        detail: String,
    },
    RunFinished {
        /// `complete`, `cancelled`, `rejected`.
        state: &'static str,
        summary: String,
    },
}

//! What a step asks the driver to do.

use crate::outcome::Session;
use chrono::{DateTime, Utc};
use serde::Serialize;

/// Something to be done, in order, after the step's events are on disk. What the state itself says needs no effect: an
/// agent that it does not name is stopped, and a time that it waits for is waited for.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Decide the stage's condition: answer with `FactDecided` for what it needs, then `StageDecided`.
    Decide {
        /// Which stage.
        stage: usize,
    },
    /// Start an agent; answer with `AgentStarted`, `SessionOpened`, and `AttemptEnded` once.
    StartAgent {
        /// Which stage.
        stage: usize,
        /// Serial number of the launch.
        launch: u32,
        /// Whether it goes on with what an earlier launch has begun.
        resume: bool,
        /// The agent's own session, to go on in.
        session: Option<Session>,
    },
    /// Remember the files as they are now: what changes from here on is under review at the next gate.
    TakeBaseline,
    /// Show the gate.
    OpenGate {
        /// Its stage.
        stage: usize,
        /// The visit.
        visit: u32,
    },
    /// A line of the log, without its time.
    Log(String),
    /// The same with a time at its end, which whoever writes it writes as clocks show it there.
    LogUntil {
        /// The line up to there.
        line: String,
        /// The time.
        until: DateTime<Utc>,
    },
    /// Something for people that is no line of the log.
    Say(String),
    /// Tell whoever listens.
    Tell(Notice),
    /// Nothing is left to drive: wait for a verb.
    Leave,
}

impl Effect {
    /// The line of the log that it is, where it is one; `clock` writes a time as clocks show it.
    pub fn into_line(self, clock: impl FnOnce(DateTime<Utc>) -> String) -> Option<String> {
        match self {
            Self::Log(line) => Some(line),
            Self::LogUntil { line, until } => Some(format!("{line} {}", clock(until))),
            _ => None,
        }
    }
}

/// What listeners are told: the `User` events of the editor.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Notice {
    /// The run began.
    RunStarted,
    /// A stage began; `stage` is its position from 1.
    StageStarted {
        /// Position from 1.
        stage: usize,
        /// Which visit.
        visit: u32,
        /// Its label.
        label: String,
    },
    /// A stage ended: `passed`, `skipped`, `failed`, `approved`.
    StageFinished {
        /// Position from 1.
        stage: usize,
        /// Its label.
        label: String,
        /// How.
        outcome: &'static str,
        /// Why, where there is more to say.
        note: String,
    },
    /// A gate waits.
    GateOpened {
        /// Position from 1.
        stage: usize,
        /// `STAGE.VISIT`, as a decision names it.
        gate: String,
        /// Its label.
        label: String,
    },
    /// A gate was decided.
    GateDecided {
        /// Position from 1.
        stage: usize,
        /// `STAGE.VISIT`.
        gate: String,
        /// What.
        decision: super::event::Decision,
        /// Why.
        comment: String,
        /// Who.
        by: String,
    },
    /// The run paused.
    RunPaused {
        /// Position from 1.
        stage: usize,
        /// Why.
        reason: super::state::Reason,
        /// In words.
        detail: String,
    },
    /// The run ended.
    RunFinished {
        /// `complete`, `cancelled`, `rejected`.
        state: &'static str,
        /// In words.
        summary: String,
    },
}

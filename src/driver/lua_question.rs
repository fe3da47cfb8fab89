//! A question to Lua that is open.

use super::current_launch::working;
use crate::outcome::Session;
use crate::run::state::{Phase, Run, Step};
use std::time::{Duration, Instant};

/// A question to Lua that is open.
pub(super) struct LuaQuestion {
    pub(super) id: String,
    pub(super) wanted: Wanted,
    /// When nobody waits for it any more.
    pub(super) until: Instant,
}

/// What is wanted.
pub(super) enum Wanted {
    /// A fact, for a stage's condition.
    Fact {
        /// Its name.
        fact: String,
        /// The stage that asks.
        stage: usize,
    },
    /// The prompt of a launch.
    Prompt {
        /// The stage.
        stage: usize,
        /// The launch.
        launch: u32,
        /// The session to go on in.
        session: Option<Session>,
    },
}

impl LuaQuestion {
    /// How long the answer may still take.
    pub(super) fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// Whether the run still waits for it.
    pub(super) fn is_wanted(&self, run: &Run) -> bool {
        match &self.wanted {
            Wanted::Fact { stage, .. } => {
                run.phase == Phase::Running
                    && run.current() == Some(*stage)
                    && run.stages[*stage].step == Step::Deciding
            }
            Wanted::Prompt { stage, launch, .. } => working(run, *launch) == Some(*stage),
        }
    }
}

//! What a run is at, for whoever asks its drive.

use crate::run::state::{Phase, Run};

/// The run, as its newest picture shows it.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    /// Whether the run is on, not paused or over.
    pub is_running: bool,
    /// The word for that.
    pub state: &'static str,
    /// The superpower.
    pub superpower: String,
    /// The current stage, from 1.
    pub stage: usize,
}

impl Standing {
    /// As it is now.
    pub fn of(run: &Run) -> Self {
        Self {
            is_running: run.phase == Phase::Running,
            state: run.phase.word(),
            superpower: run.plan.name().to_owned(),
            stage: run.current_position(),
        }
    }
}

//! A short description of a run's state.

use crate::run::state::{Phase, Run};

/// The run's state in its latest picture.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    /// Whether the run is active, not paused or finished.
    pub is_running: bool,
    /// As in `squad.json`.
    pub state: &'static str,
    pub superpower: String,
    /// From 1.
    pub stage: usize,
}

impl Standing {
    /// The present state of a run.
    pub fn of(run: &Run) -> Self {
        Self {
            is_running: run.phase == Phase::Running,
            state: run.phase.word(),
            superpower: run.plan.name().to_owned(),
            stage: run.current_position(),
        }
    }
}

//! Finds the stage that an agent is working on.

use crate::run::state::{Phase, Run, Step};

/// The stage that is running, and its launch.
pub(super) fn works(run: &Run) -> Option<(usize, u32)> {
    let stage = run.current().filter(|_| run.phase == Phase::Running)?;
    match run.stages[stage].step {
        Step::Working { launch, .. } => Some((stage, launch)),
        _ => None,
    }
}

/// The stage of this launch, if it is running.
pub(super) fn working(run: &Run, launch: u32) -> Option<usize> {
    works(run).filter(|&(_, current)| current == launch).map(|(stage, _)| stage)
}

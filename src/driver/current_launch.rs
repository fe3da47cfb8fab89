//! The stage that an agent works for, as a run's state names it.

use crate::run::state::{Phase, Run, Step};

/// The stage that works right now, and its launch.
pub(super) fn works(run: &Run) -> Option<(usize, u32)> {
    let stage = run.current().filter(|_| run.phase == Phase::Running)?;
    match run.stages[stage].step {
        Step::Working { launch, .. } => Some((stage, launch)),
        _ => None,
    }
}

/// The stage that this launch is for, if it works right now.
pub(super) fn working(run: &Run, launch: u32) -> Option<usize> {
    works(run).filter(|&(_, current)| current == launch).map(|(stage, _)| stage)
}

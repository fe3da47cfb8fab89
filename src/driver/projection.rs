//! `squad.json` and the run's summary: projections of the journal, written whole, without a flush of their own.

use crate::run::snapshot;
use crate::run::state::Run;
use crate::store::rundir::{RunDir, Summary};
use crate::store::squad::{self, Squad};
use std::io;
use std::path::Path;

/// Writes both.
pub fn write(root: &Path, dir: &RunDir, run: &Run) -> io::Result<()> {
    let reason = run.phase.reason().map(|reason| reason.word());
    let squad = Squad {
        active_superpower: run.plan.name().to_owned(),
        current_stage: run.current_position(),
        status: run.phase.word().to_owned(),
        inputs: run.plan.inputs.clone(),
        run_id: Some(run.run_id.clone()),
    };
    let at = run.updated_at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
    squad::write(root, &squad, reason, &at)?;
    dir.write_summary(&summary(run))
}

/// The run in short.
pub fn summary(run: &Run) -> Summary {
    Summary {
        run_id: run.run_id.clone(),
        superpower: run.plan.name().to_owned(),
        state: run.phase.word().to_owned(),
        reason: run.phase.reason().map(|reason| reason.word().to_owned()),
        current_stage: run.current_position(),
        total: run.plan.total(),
        started_at: run.started_at.timestamp_millis(),
        updated_at: run.updated_at.timestamp_millis(),
        summary: snapshot::summary(run),
    }
}

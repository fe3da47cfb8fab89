//! The run that a verb acts on: the named one, or the project's current run.

use super::adoption::Takeover;
use super::run_id::resolve_id;
use super::run_lookup;
use crate::driver::handle::Handle;
use crate::engine::core::Engine;
use crate::engine::refusal::{MAX_LISTED, Refusal};
use crate::runs::list::summaries;
use crate::store::summary::Summary;
use std::path::Path;
use std::sync::Arc;

/// The run that a request is about.
#[derive(Clone, Copy)]
pub struct TargetRun<'a> {
    /// The id, or the start of one.
    pub run_id: Option<&'a str>,
    /// Whether a verb that names no run is refused if several are possible.
    pub only: bool,
    pub eligible: Eligible,
}

/// Which runs a verb can act on.
#[derive(Clone, Copy)]
pub enum Eligible {
    /// Runs at an open gate.
    Decide,
    Resume,
    /// Runs that are paused because of a stage.
    Retry,
    Pause,
    /// Runs that have not ended.
    Cancel,
}

impl Eligible {
    fn of(self) -> fn(&Summary) -> bool {
        match self {
            Self::Decide => Summary::at_gate,
            Self::Resume => Summary::paused,
            Self::Retry => Summary::held,
            Self::Pause => Summary::running,
            Self::Cancel => |summary| !summary.over(),
        }
    }
}

impl<'a> TargetRun<'a> {
    pub fn of(run_id: &'a Option<String>, only: bool, eligible: Eligible) -> Self {
        Self { run_id: run_id.as_deref().filter(|run_id| !run_id.is_empty()), only, eligible }
    }

    /// The run's id. Another tool's run is taken over.
    pub fn find(self, engine: &Engine, root: &Path, takeover: &Takeover) -> Result<String, Refusal> {
        let Some(given) = self.run_id else {
            if self.only {
                only_one(engine, root, self.eligible.of())?;
            }
            return run_lookup::current(engine, root, takeover);
        };
        let run_id = resolve_id(root, given)?;
        run_lookup::save_foreign_run(engine, root)?;
        Ok(run_id)
    }

    /// The run's id, or the run that a superpower's name or an id means; and the number of other runs of that superpower.
    pub fn named(
        self,
        engine: &Engine,
        root: &Path,
        which: Option<&str>,
        takeover: &Takeover,
    ) -> Result<(String, usize), Refusal> {
        match which.filter(|which| !which.is_empty()) {
            None => Ok((self.find(engine, root, takeover)?, 0)),
            Some(which) if self.run_id.is_none() => run_lookup::named(engine, root, which, takeover),
            Some(_) => Err(Refusal::BadRequest("resume takes one run: a name or run=ID".into())),
        }
    }

    /// The run's drive, if it is active in this editor.
    pub fn driven(self, engine: &Engine, root: &Path) -> Result<Option<Arc<Handle>>, Refusal> {
        let Some(drive) = running(engine, root) else { return Ok(None) };
        Ok(match self.run_id {
            Some(given) if resolve_id(root, given)? != drive.run_id => None,
            _ => Some(drive),
        })
    }
}

/// The project's drive, if one is active in this editor.
pub fn running(engine: &Engine, root: &Path) -> Option<Arc<Handle>> {
    engine.drive(root).filter(|drive| !drive.is_over())
}

/// Refuses a verb that names no run if several are possible, because the user has not seen which one is meant.
fn only_one(engine: &Engine, root: &Path, eligible: fn(&Summary) -> bool) -> Result<(), Refusal> {
    if run_lookup::is_other_tools(engine, root) {
        // Another tool's run is the current one.
        return Ok(());
    }
    let fitting: Vec<Summary> = summaries(root, &engine.keys(), &engine.secrets())
        .into_iter()
        .filter(|summary| !summary.foreign() && eligible(summary))
        .collect();
    if fitting.len() < 2 {
        return Ok(());
    }
    let line = |it: &Summary| {
        format!("  run={}  {} {}/{}  {}", it.run_id, it.superpower, it.current_stage, it.total, it.about)
    };
    let mut lines: Vec<String> =
        fitting.iter().take(MAX_LISTED).map(|it| line(it).trim_end().to_owned()).collect();
    if fitting.len() > MAX_LISTED {
        lines.push("  …".into());
    }
    Err(Refusal::SeveralRuns { lines, ids: fitting.into_iter().map(|it| it.run_id).collect() })
}

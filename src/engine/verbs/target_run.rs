//! The run that a verb acts on: the one that it names, else the one that the project is at.

use super::adoption::Taking;
use super::run_id::identified;
use super::run_lookup;
use crate::driver::handle::Handle;
use crate::engine::core::Engine;
use crate::engine::refusal::{LISTED, Refusal};
use crate::runs::list::summaries;
use crate::store::summary::Summary;
use std::path::Path;
use std::sync::Arc;

/// What a request says about it.
#[derive(Clone, Copy)]
pub struct Whom<'a> {
    /// Its id, or a start of it.
    pub run_id: Option<&'a str>,
    /// Whether a verb that names none is refused where several fit.
    pub only: bool,
    /// What it must be for the verb.
    pub fits: Fits,
}

/// The runs for which a verb means something.
#[derive(Clone, Copy)]
pub enum Fits {
    /// Waits at a gate.
    Decide,
    /// Is paused.
    Resume,
    /// Is paused because of a stage.
    Retry,
    /// Runs.
    Pause,
    /// Has not ended.
    Cancel,
}

impl Fits {
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

impl<'a> Whom<'a> {
    /// As a request says it.
    pub fn of(run_id: &'a Option<String>, only: bool, fits: Fits) -> Self {
        Self { run_id: run_id.as_deref().filter(|run_id| !run_id.is_empty()), only, fits }
    }

    /// The run's id. What another tool says becomes a run of ours.
    pub fn find(self, engine: &Engine, root: &Path, taking: &Taking) -> Result<String, Refusal> {
        let Some(given) = self.run_id else {
            if self.only {
                only_one(engine, root, self.fits.of())?;
            }
            return run_lookup::current(engine, root, taking);
        };
        let run_id = identified(root, given)?;
        run_lookup::make_way(engine, root)?;
        Ok(run_id)
    }

    /// The run's id, or the one that a superpower's name or an id means; and how many others of that name there are.
    pub fn named(
        self,
        engine: &Engine,
        root: &Path,
        which: Option<&str>,
        taking: &Taking,
    ) -> Result<(String, usize), Refusal> {
        match which.filter(|which| !which.is_empty()) {
            None => Ok((self.find(engine, root, taking)?, 0)),
            Some(which) if self.run_id.is_none() => run_lookup::named(engine, root, which, taking),
            Some(_) => Err(Refusal::BadRequest("resume takes one run: a name, or run=ID".into())),
        }
    }

    /// Its drive, where this editor drives it.
    pub fn driven(self, engine: &Engine, root: &Path) -> Result<Option<Arc<Handle>>, Refusal> {
        let Some(drive) = running(engine, root) else { return Ok(None) };
        Ok(match self.run_id {
            Some(given) if identified(root, given)? != drive.run_id => None,
            _ => Some(drive),
        })
    }
}

/// The drive of a project, where this editor has one under way.
pub fn running(engine: &Engine, root: &Path) -> Option<Arc<Handle>> {
    engine.drive(root).filter(|drive| !drive.is_over())
}

/// Refuses a verb without a run where several fit: nobody has seen which one is meant.
fn only_one(engine: &Engine, root: &Path, fits: fn(&Summary) -> bool) -> Result<(), Refusal> {
    if run_lookup::is_anothers(engine, root) {
        // What another tool says there is, is meant.
        return Ok(());
    }
    let fitting: Vec<Summary> = summaries(root, &engine.keys(), &engine.secrets())
        .into_iter()
        .filter(|summary| !summary.foreign() && fits(summary))
        .collect();
    if fitting.len() < 2 {
        return Ok(());
    }
    let line = |it: &Summary| {
        format!("  run={}  {} {}/{}  {}", it.run_id, it.superpower, it.current_stage, it.total, it.about)
    };
    let mut lines: Vec<String> =
        fitting.iter().take(LISTED).map(|it| line(it).trim_end().to_owned()).collect();
    if fitting.len() > LISTED {
        lines.push("  …".into());
    }
    Err(Refusal::SeveralRuns { lines, ids: fitting.into_iter().map(|it| it.run_id).collect() })
}

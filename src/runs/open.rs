//! Opens a run: reads and replays its journal.

use super::open_error::OpenError;
use super::replay::{Replayed, replay};
use crate::plan::Plan;
use crate::process::Secrets;
use crate::run::event::{Event, Hidden, Record};
use crate::run::machine;
use crate::run::state::Run;
use crate::store::journal::{self, Contents, Place};
use crate::store::keyring::Keyring;
use crate::store::rundir::RunDir;
use std::path::Path;
use std::sync::Arc;

/// A run according to its journal.
#[derive(Clone, Debug)]
pub struct Opened {
    pub dir: RunDir,
    pub place: Place,
    pub run: Run,
    /// The number of its log lines.
    pub lines: usize,
    /// What the journal contains and how far it can be trusted. The records are only kept for foreign runs.
    pub contents: Contents,
    /// The name of the declaration copy in use.
    pub declaration: String,
    /// Whether that copy differs from the digest in the journal.
    pub changed: bool,
    /// Inputs whose secrets are still masked, with the variables that the secrets came from.
    pub hidden: Hidden,
}

impl Opened {
    /// Restores masked secrets in inputs from the environment, as far as it still has them.
    pub fn reveal(&mut self, secrets: &Secrets) {
        let mut inputs = self.run.plan.inputs.clone();
        self.hidden.retain(|name, variables| {
            let Some(value) = inputs.get_mut(name) else { return false };
            match secrets.reveal(value, variables) {
                Some(whole) => *value = whole,
                None => return true,
            }
            false
        });
        if inputs != self.run.plan.inputs
            && let Ok(plan) = Plan::with_edited(self.run.plan.declaration.clone(), &inputs)
        {
            self.run.plan = Arc::new(plan);
        }
    }

    /// Marks a run without a driver as interrupted, and returns the record of that if it was active. The record has the time
    /// of the journal's last record, because nothing happened after it.
    pub fn interrupt(&mut self) -> Option<Record> {
        let why = match self.contents.damaged {
            Some(damage) => format!("the journal was damaged at line {}", damage.line),
            None => "the editor that drove the run ended unexpectedly".to_owned(),
        };
        let record = Record { at: self.run.updated_at, event: Event::Interrupted { why } };
        let effects = machine::step(&mut self.run, &record).ok()?;
        self.lines += effects.iter().filter(|effect| effect.is_line()).count();
        Some(record)
    }
}

pub fn open(root: &Path, run_id: &str, keys: &Keyring) -> Result<Opened, OpenError> {
    let dir = RunDir::of(root, run_id)?;
    if dir.door().lstat(&dir.journal()).is_err() {
        return Err(OpenError::Missing(run_id.to_owned()));
    }
    let place = Place::new(&dir, keys);
    let mut contents = journal::read(&place)?;
    let records = std::mem::take(&mut contents.records);
    let Replayed { mut run, declaration, changed, log } = replay(&dir, &records)?;
    // The directory decides the id, not the journal's content.
    run_id.clone_into(&mut run.run_id);
    let hidden = match records.first().map(|record| &record.event) {
        Some(Event::RunStarted { hidden, .. }) => hidden.clone(),
        _ => Hidden::new(),
    };
    if !contents.ours {
        contents.records = records;
        // A foreign run's baseline and file lists are not trusted.
        run.baseline = None;
        run.shown.clear();
    }
    Ok(Opened { dir, place, run, lines: log.len(), contents, declaration, changed, hidden })
}

/// The run's log lines, generated again from its journal.
pub fn log(root: &Path, run_id: &str, keys: &Keyring) -> Result<Vec<String>, OpenError> {
    let dir = RunDir::of(root, run_id)?;
    let contents = journal::read(&Place::new(&dir, keys))?;
    Ok(replay(&dir, &contents.records)?.log)
}

//! A run opened: its journal read, and replayed.

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

/// A run as its journal tells it.
#[derive(Clone, Debug)]
pub struct Opened {
    /// Its directory.
    pub dir: RunDir,
    /// Its journal.
    pub place: Place,
    /// Its state.
    pub run: Run,
    /// Where the journal ends, to append to, and what of it can be believed. The records of a run that is ours are taken
    /// out.
    pub contents: Contents,
    /// The kept declaration that it stands on.
    pub declaration: String,
    /// Whether that copy is not what the journal says was kept.
    pub changed: bool,
    /// Inputs that held secrets and are masked still, with where these came from.
    pub hidden: Hidden,
}

impl Opened {
    /// Gives inputs the secrets back that the journal does not keep, where the environment has them still.
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
            && let Ok(plan) = Plan::again(self.run.plan.declaration.clone(), &inputs)
        {
            self.run.plan = Arc::new(plan);
        }
    }

    /// Calls a run that nobody drives any more what it is, interrupted; gives the record of that, where it was running
    /// still. It happened when the run was last heard of: nobody has worked since.
    pub fn interrupt(&mut self) -> Option<Record> {
        let why = match self.contents.damaged {
            Some(damage) => format!("its journal was damaged at line {}", damage.line),
            None => "the editor that drove it ended without leaving".to_owned(),
        };
        let record = Record { at: self.run.updated_at, event: Event::Interrupted { why } };
        machine::step(&mut self.run, &record).ok().map(|_| record)
    }
}

/// Reads a run.
pub fn open(root: &Path, run_id: &str, keys: &Keyring) -> Result<Opened, OpenError> {
    let dir = RunDir::of(root, run_id)?;
    if dir.door().lstat(&dir.journal()).is_err() {
        return Err(OpenError::Missing(run_id.to_owned()));
    }
    let place = Place::new(&dir, keys);
    let mut contents = journal::read(&place)?;
    let records = std::mem::take(&mut contents.records);
    let Replayed { mut run, declaration, changed, .. } = replay(&dir, &records)?;
    // Whatever a journal says of itself, this is where it lies.
    run_id.clone_into(&mut run.run_id);
    let hidden = match records.first().map(|record| &record.event) {
        Some(Event::RunStarted { hidden, .. }) => hidden.clone(),
        _ => Hidden::new(),
    };
    if !contents.ours {
        contents.records = records;
        // What gates compare with and what was shown are believed of nobody else.
        run.baseline = None;
        run.shown.clear();
    }
    Ok(Opened { dir, place, run, contents, declaration, changed, hidden })
}

/// The lines that a run has put into the log, told anew from its journal.
pub fn log(root: &Path, run_id: &str, keys: &Keyring) -> Result<Vec<String>, OpenError> {
    let dir = RunDir::of(root, run_id)?;
    let contents = journal::read(&Place::new(&dir, keys))?;
    Ok(replay(&dir, &contents.records)?.log)
}

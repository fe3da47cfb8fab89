//! A run from disk: its journal replayed over the declarations that it kept.

use crate::check;
use crate::plan::{Inputs, Plan};
use crate::process::Secrets;
use crate::run::event::{Event, Hidden, Record};
use crate::run::machine;
use crate::run::replace;
use crate::run::state::Run;
use crate::store::journal::{self, Contents, JournalError};
use crate::store::rundir::RunDir;
use std::path::Path;
use std::sync::Arc;
use thiserror::Error;

/// Why a run cannot be read.
#[derive(Debug, Error)]
pub enum OpenError {
    /// There is no such run.
    #[error("there is no run \"{0}\"")]
    Missing(String),
    /// Its journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The declaration that it kept.
    #[error("the declaration \"{name}\" that the run kept cannot be used: {why}")]
    Declaration {
        /// The copy's name.
        name: String,
        /// Why.
        why: String,
    },
}

/// A run as its journal tells it.
#[derive(Clone, Debug)]
pub struct Opened {
    /// Its directory.
    pub dir: RunDir,
    /// Its state.
    pub run: Run,
    /// Where the journal ends, to append to; its records are taken out.
    pub contents: Contents,
    /// The kept declaration that it stands on.
    pub declaration: String,
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
            Some(line) => {
                format!("its journal is damaged at line {line}; resuming goes on from what stands before")
            }
            None => "the editor that drove it ended without leaving".to_owned(),
        };
        let record = Record { at: self.run.updated_at, event: Event::Interrupted { why } };
        machine::step(&mut self.run, &record).ok().map(|_| record)
    }
}

/// Reads a run.
pub fn open(root: &Path, run_id: &str) -> Result<Opened, OpenError> {
    let dir = RunDir::of(root, run_id);
    if run_id.is_empty() || run_id.contains(['/', '\\']) || !dir.journal().exists() {
        return Err(OpenError::Missing(run_id.to_owned()));
    }
    let mut contents = journal::read(&dir.journal())?;
    let records = std::mem::take(&mut contents.records);
    let (run, declaration) = replay(&dir, &records)?;
    let hidden = match records.into_iter().next().map(|record| record.event) {
        Some(Event::RunStarted { hidden, .. }) => hidden,
        _ => Hidden::new(),
    };
    Ok(Opened { dir, run, contents, declaration, hidden })
}

fn replay(dir: &RunDir, records: &[Record]) -> Result<(Run, String), OpenError> {
    let mut records = records.iter();
    let first = records.next();
    let Some(Record { event: Event::RunStarted { declaration, inputs, .. }, .. }) = first else {
        return Err(OpenError::Missing(dir.path().display().to_string()));
    };
    let mut declaration = declaration.clone();
    let plan = |name: &str| kept_plan(dir, name, inputs).map(Arc::new);
    let (mut run, _) = machine::start(plan(&declaration)?, first.expect("it was matched above"));
    for record in records {
        if let Event::DeclarationReplaced { declaration: name, .. } = &record.event {
            replace::replace(&mut run, plan(name)?, record.at);
            declaration.clone_from(name);
        } else {
            // A record that is refused now was written by a race that is over; the state stands without it.
            let _ = machine::step(&mut run, record);
        }
    }
    Ok((run, declaration))
}

/// The plan of a declaration that a run kept. It was checked when it was kept; names that only the configuration of
/// that day knew, and rules that are newer than it, do not keep the run from being read.
pub fn kept_plan(dir: &RunDir, name: &str, inputs: &Inputs) -> Result<Plan, OpenError> {
    let failed = |why: String| OpenError::Declaration { name: name.to_owned(), why };
    let bytes = dir.declaration(name).map_err(|error| failed(error.to_string()))?;
    let checked = check::check_bytes(&bytes, &check::Context::default());
    let declaration = checked.draft.finish(&checked.tree);
    let declaration = declaration.ok_or_else(|| failed("it is no declaration any more".into()))?;
    Ok(Plan::kept(declaration, inputs))
}

//! A run from disk: its journal replayed over the declarations that it kept.

use crate::check;
use crate::diagnostic::Code;
use crate::plan::{Inputs, Plan};
use crate::process::Secrets;
use crate::run::effect::Effect;
use crate::run::event::{Event, Hidden, Record};
use crate::run::machine;
use crate::run::replace;
use crate::run::state::Run;
use crate::store::journal::{self, Contents, JournalError, Place};
use crate::store::keyring::Keyring;
use crate::store::names::NotARunId;
use crate::store::rundir::RunDir;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use thiserror::Error;

/// Why a run cannot be read.
#[derive(Debug, Error)]
pub enum OpenError {
    /// It is called as no run can be.
    #[error(transparent)]
    Name(#[from] NotARunId),
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

struct Replayed {
    log: Vec<String>,
    run: Run,
    declaration: String,
    changed: bool,
}

fn replay(dir: &RunDir, records: &[Record]) -> Result<Replayed, OpenError> {
    let mut records = records.iter();
    let first = records.next();
    let Some(Record { event: Event::RunStarted { declaration, digest, inputs, .. }, .. }) = first else {
        return Err(OpenError::Missing(dir.path().display().to_string()));
    };
    let mut declaration = declaration.clone();
    let kept = |name: &str, digest: &Option<String>| -> Result<(Arc<Plan>, bool), OpenError> {
        let (plan, found) = kept_plan(dir, name, inputs)?;
        Ok((Arc::new(plan), digest.as_ref().is_some_and(|digest| *digest != found)))
    };
    let (plan, mut changed) = kept(&declaration, digest)?;
    let mut log = Vec::new();
    let mut hear = |effects: Vec<Effect>| {
        log.extend(
            effects.into_iter().filter_map(|it| if let Effect::Log(line) = it { Some(line) } else { None }),
        );
    };
    let (mut run, effects) = machine::start(plan, first.expect("it was matched above"));
    hear(effects);
    for record in records {
        if let Event::DeclarationReplaced { declaration: name, digest, .. } = &record.event {
            let (plan, differs) = kept(name, digest)?;
            replace::replace(&mut run, plan, record.at);
            declaration.clone_from(name);
            changed = differs;
        } else {
            // A record that is refused now was written by a race that is over; the state stands without it.
            hear(machine::step(&mut run, record).unwrap_or_default());
        }
    }
    Ok(Replayed { log, run, declaration, changed })
}

/// The plan of a declaration that a run kept, and the digest of the copy. It was checked when it was kept; names that
/// only the configuration of that day knew, and rules that are newer than it, do not keep the run from being read.
pub fn kept_plan(dir: &RunDir, name: &str, inputs: &Inputs) -> Result<(Plan, String), OpenError> {
    let failed = |why: String| OpenError::Declaration { name: name.to_owned(), why };
    let bytes = dir.declaration(name).map_err(|error| failed(error.to_string()))?;
    let checked = check::check_bytes(&bytes, &check::Context::default());
    // A name becomes a title, a path, an argument, a word of commands. One that no check has passed is nobody's.
    if let Some(wrong) = checked.diagnostics.iter().find(|it| it.code == Code::InvalidName) {
        return Err(failed(crate::terminal::visible(&wrong.message)));
    }
    let declaration = checked.draft.finish(&checked.tree);
    let declaration = declaration.ok_or_else(|| failed("it is no longer a valid declaration".into()))?;
    Ok((Plan::kept(declaration, inputs), digest(&bytes)))
}

/// SHA-256 of a declaration, in hexadecimal, as the journal holds it of the copy that a run keeps.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

//! A journal replayed over the declarations that the run kept.

use super::open_error::OpenError;
use crate::check;
use crate::diagnostic::Code;
use crate::plan::{Inputs, Plan};
use crate::run::effect::Effect;
use crate::run::event::{Event, Record};
use crate::run::machine;
use crate::run::replace;
use crate::run::state::Run;
use crate::store::rundir::RunDir;
use crate::zone;
use chrono::{DateTime, Utc};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::sync::Arc;

/// What a journal comes to.
pub(super) struct Replayed {
    /// The lines that it has put into the log.
    pub log: Vec<String>,
    pub run: Run,
    pub declaration: String,
    pub changed: bool,
}

pub(super) fn replay(dir: &RunDir, records: &[Record]) -> Result<Replayed, OpenError> {
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
    let zone = zone::current();
    let mut hear = |effects: Vec<Effect>, at: DateTime<Utc>| {
        log.extend(effects.into_iter().filter_map(|it| it.into_line(|until| zone.clock(until, at))));
    };
    let first = first.expect("it was matched above");
    let (mut run, effects) = machine::start(plan, first);
    hear(effects, first.at);
    for record in records {
        if let Event::DeclarationReplaced { declaration: name, digest, .. } = &record.event {
            let (plan, differs) = kept(name, digest)?;
            replace::replace(&mut run, plan, record.at);
            declaration.clone_from(name);
            changed = differs;
        } else {
            // A record that is refused now was written by a race that is over; the state stands without it.
            hear(machine::step(&mut run, record).unwrap_or_default(), record.at);
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

//! Replays a journal with the declarations that the run has kept.

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

pub(super) struct Replayed {
    /// The log lines of the replayed records.
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
        let (plan, found) = saved_plan(dir, name, inputs)?;
        Ok((Arc::new(plan), digest.as_ref().is_some_and(|digest| *digest != found)))
    };
    let (plan, mut changed) = kept(&declaration, digest)?;
    let mut log = Vec::new();
    let zone = zone::current();
    let mut collect = |effects: Vec<Effect>, at: DateTime<Utc>| {
        log.extend(effects.into_iter().filter_map(|it| it.into_line(|until| zone.clock(until, at))));
    };
    let first = first.expect("it was matched above");
    let (mut run, effects) = machine::start(plan, first);
    collect(effects, first.at);
    for record in records {
        if let Event::DeclarationReplaced { declaration: name, digest, .. } = &record.event {
            let (plan, differs) = kept(name, digest)?;
            replace::replace(&mut run, plan, record.at);
            declaration.clone_from(name);
            changed = differs;
        } else {
            // A record that is refused here was written in a race; the state is right without it.
            collect(machine::step(&mut run, record).unwrap_or_default(), record.at);
        }
    }
    Ok(Replayed { log, run, declaration, changed })
}

/// The plan of a declaration that the run has kept, and the digest of the copy. The declaration was checked when it was
/// kept, so unknown names and newer rules are no reason to refuse it now.
pub fn saved_plan(dir: &RunDir, name: &str, inputs: &Inputs) -> Result<(Plan, String), OpenError> {
    let failed = |why: String| OpenError::Declaration { name: name.to_owned(), why };
    let bytes = dir.declaration(name).map_err(|error| failed(error.to_string()))?;
    let checked = check::check_bytes(&bytes, &check::Context::default());
    // A name becomes a title, a path and an argument, so an invalid one was never checked and is refused.
    if let Some(wrong) = checked.diagnostics.iter().find(|it| it.code == Code::InvalidName) {
        return Err(failed(crate::terminal::visible(&wrong.message)));
    }
    let declaration = checked.draft.finish(&checked.tree);
    let declaration = declaration.ok_or_else(|| failed("it is no longer a valid declaration".into()))?;
    Ok((Plan::from_journal(declaration, inputs), digest(&bytes)))
}

/// The SHA-256 of a declaration in hexadecimal, as in the journal.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

//! Asks whether the user trusts what would be driven, and records the answer.

use super::adoption_claim::claim;
use super::answers::{Answers, Choice};
use super::continuation::{Next, next};
use crate::config::Trust as Wanted;
use crate::driver::trust::{path, state, tools, words};
use crate::engine::core::Engine;
use crate::engine::editing::context::index;
use crate::engine::editing::loaded::Loaded;
use crate::engine::refusal::Refusal;
use crate::engine::refusal::untrusted::{How, Untrusted};
use crate::environ;
use crate::plan::Plan;
use crate::project::Index;
use crate::project::trust::{Cache, Change, Driven, GrantError, Sheet, Subject, Trust};
use crate::run::event::Event;
use crate::run::state::Reason;
use crate::runs::open::Opened;
use crate::store::state::State;
use serde_json::{Value, json};
use std::path::Path;

/// What would be driven, and whether the user agreed to it.
pub struct TrustCheck {
    /// What an agreement covers.
    pub subject: Subject,
    /// Whether the user has agreed.
    pub trust: Trust,
    driven: Driven,
}

impl TrustCheck {
    /// Reads what would be driven and looks up the agreement.
    fn of(
        engine: &Engine,
        root: &Path,
        index: &Index,
        driven: Driven,
        cache: &mut Cache,
    ) -> Result<Self, Refusal> {
        let subject = Subject::read(root, index, &driven, cache)?;
        let trust = match state(&engine.config(), root) {
            _ if engine.config().trust == Wanted::Always => Trust::Trusted,
            Some(state) => subject.state(&state),
            None => Trust::Unknown { older: false },
        };
        Ok(Self { subject, trust, driven })
    }

    /// For a superpower as its file is now.
    pub fn loaded(
        engine: &Engine,
        root: &Path,
        loaded: &Loaded,
        harness: Option<&str>,
    ) -> Result<Self, Refusal> {
        let Some(declaration) = loaded.checked.declaration.clone() else { return Err(loaded.invalid()) };
        let host = engine.host();
        let driven = Driven {
            tools: tools(root, &declaration, harness, &host.config, &host.harnesses),
            declaration,
            bytes: loaded.bytes.clone(),
            path: loaded.file.path.clone(),
            kept: None,
        };
        Self::of(engine, root, &loaded.index, driven, &mut Cache::default())
    }

    /// For a run as it would continue.
    fn next(engine: &Engine, root: &Path, opened: &Opened, next: &Next) -> Result<Self, Refusal> {
        Self::next_with(engine, root, opened, next, &mut Cache::default())
    }

    /// Like `next`, with a cache of files.
    fn next_with(
        engine: &Engine,
        root: &Path,
        opened: &Opened,
        next: &Next,
        cache: &mut Cache,
    ) -> Result<Self, Refusal> {
        let plan: &Plan = next.edited.as_ref().unwrap_or(&opened.run.plan);
        let host = engine.host();
        let driven = Driven {
            declaration: plan.declaration.clone(),
            bytes: next.bytes.clone(),
            path: path(root, &next.index, plan.name()),
            kept: next.kept.clone(),
            tools: tools(
                root,
                &plan.declaration,
                opened.run.harness.as_deref(),
                &host.config,
                &host.harnesses,
            ),
        };
        Self::of(engine, root, &next.index, driven, cache)
    }

    /// What has changed since the last agreement, if there was one.
    fn changes(&self) -> Option<&[Change]> {
        if let Trust::Changed(changes) = &self.trust { Some(changes) } else { None }
    }

    /// What a sheet shows outside of a run, with `claim` at its top.
    pub fn shown(&self, engine: &Engine, root: &Path, claim: Option<String>) -> Value {
        let Untrusted { digest, sheet, trust, .. } = self.untrusted(engine, root, claim, How::Run);
        json!({ "trusted": trust == Trust::Trusted, "digest": digest, "sheet": sheet })
    }

    /// The refusal that shows the sheet, with `claim` at its top; the claim needs an answer of its own.
    pub fn refusal(&self, engine: &Engine, root: &Path, claim: Option<String>, how: How) -> Refusal {
        Refusal::Untrusted(Box::new(self.untrusted(engine, root, claim, how)))
    }

    fn untrusted(&self, engine: &Engine, root: &Path, claim: Option<String>, how: How) -> Untrusted {
        engine.sheets.remember(root, &self.subject.digest, &self.driven);
        let mut sheet = self.subject.sheet.clone();
        sheet.changes = self.changes().unwrap_or_default().to_vec();
        sheet.claim = claim;
        sheet.older = self.trust == Trust::Unknown { older: true };
        Untrusted { digest: self.subject.digest.clone(), sheet, trust: self.trust.clone(), how }
    }
}

/// Refuses to start a superpower unless the user agreed to exactly this.
pub fn to_start(engine: &Engine, root: &Path, loaded: &Loaded, harness: Option<&str>) -> Result<(), Refusal> {
    if engine.config().trust == Wanted::Always {
        return Ok(());
    }
    let check = TrustCheck::loaded(engine, root, loaded, harness)?;
    if check.trust == Trust::Trusted {
        return Ok(());
    }
    Err(check.refusal(engine, root, None, How::Run))
}

/// Refuses to continue a run unless the user agreed to exactly what would be driven and to the claim of its files. Returns
/// the events that record the answers.
pub fn before_driving(
    engine: &Engine,
    root: &Path,
    opened: &Opened,
    next: &Next,
    answers: &Answers,
    drives: bool,
) -> Result<Vec<Event>, Refusal> {
    let idle = !drives && opened.run.unconfirmed.is_none();
    if idle || engine.config().trust == Wanted::Always {
        return Ok(Vec::new());
    }
    let run = &opened.run;
    let claim = run.unconfirmed.as_ref().map(|adopted| claim(&run.plan, adopted));
    let check = TrustCheck::next(engine, root, opened, next)?;
    let mut events = Vec::new();
    let by = environ::user();
    if claim.is_some() {
        if check.trust != Trust::Trusted || !answers.has(Choice::Adopt) {
            return Err(check.refusal(engine, root, claim, How::Continue));
        }
        events.push(Event::AdoptionConfirmed { by: by.clone() });
    }
    match &check.trust {
        Trust::Trusted => {}
        // The run's own copy, if it differs from the file, is agreed to in a window that shows it.
        Trust::Changed(changes) if next.kept.is_none() && answers.agree(&check.subject.digest) => {
            keep(engine, &check.subject, &check.subject.digest)?;
            events.push(Event::TrustGranted { by, files: words(changes) });
        }
        _ => return Err(check.refusal(engine, root, None, How::Continue)),
    }
    Ok(events)
}

/// Whether the user has agreed to exactly what the run would drive next.
pub fn is_agreed(engine: &Engine, root: &Path, opened: &Opened, answers: &Answers) -> Result<bool, Refusal> {
    let next = next(engine, root, opened, answers)?;
    Ok(TrustCheck::next(engine, root, opened, &next)?.trust == Trust::Trusted)
}

/// What a run would drive next, and whether the user has agreed to it. What its files claim needs an answer of its own.
pub fn of_run(engine: &Engine, root: &Path, opened: &Opened, answers: &Answers) -> Result<Value, Refusal> {
    let next = next(engine, root, opened, answers)?;
    let claim = opened.run.unconfirmed.as_ref().map(|adopted| claim(&opened.run.plan, adopted));
    Ok(TrustCheck::next(engine, root, opened, &next)?.shown(engine, root, claim))
}

/// The digest and the sheet of a foreign run, for the declaration in its own files.
pub fn sheet_of(engine: &Engine, root: &Path, opened: &Opened, claim: String) -> Option<(String, Sheet)> {
    let answers = Answers::old();
    let next = next(engine, root, opened, &answers).ok()?;
    let check = TrustCheck::next(engine, root, opened, &next).ok()?;
    let Untrusted { digest, sheet, .. } = check.untrusted(engine, root, Some(claim), How::Continue);
    Some((digest, sheet))
}

/// What a gate shows first: the trusted files that changed since the last agreement, and the digest that approving agrees
/// to. Null if nothing changed.
pub fn at_gate(engine: &Engine, root: &Path, opened: &Opened) -> Value {
    if engine.config().trust == Wanted::Always || opened.run.phase.reason() != Some(Reason::Gate) {
        return Value::Null;
    }
    // An edited declaration that needs an answer is asked about at the approval.
    let answers = Answers::default();
    let Ok(next) = next(engine, root, opened, &answers) else { return Value::Null };
    // A cache is enough to show the changes: the approval reads everything again.
    let check =
        engine.gate_caches.with(root, |cache| TrustCheck::next_with(engine, root, opened, &next, cache));
    let Ok(check) = check else { return Value::Null };
    let Some(changes) = check.changes() else { return Value::Null };
    json!({ "digest": check.subject.digest, "files": changes })
}

/// Stores an agreement to exactly what was shown.
pub fn grant(engine: &Engine, root: &Path, name: Option<&str>, digest: &str) -> Result<(), Refusal> {
    let subject = match (engine.sheets.driven(root, digest), name) {
        (Some(driven), _) => read(root, &index(engine, root), &driven)?,
        (None, Some(name)) => {
            TrustCheck::loaded(engine, root, &Loaded::find(engine, root, name)?, None)?.subject
        }
        // A run would drive something else by now.
        (None, None) => return Err(Refusal::TrustNotKept(GrantError::Changed.to_string())),
    };
    keep(engine, &subject, digest)
}

fn keep(engine: &Engine, subject: &Subject, digest: &str) -> Result<(), Refusal> {
    let state: State = state(&engine.config(), subject.root()).ok_or(Refusal::NoStateDir)?;
    subject.grant(&state, digest).map_err(|error| Refusal::TrustNotKept(error.to_string()))
}

fn read(root: &Path, index: &Index, driven: &Driven) -> Result<Subject, Refusal> {
    Ok(Subject::read(root, index, driven, &mut Cache::default())?)
}

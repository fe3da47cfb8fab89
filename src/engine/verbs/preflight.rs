//! The questions before a run is driven: trust, an edited declaration, files that changed after the approval. A question
//! is a refusal that names its answers; the verb is then called again with one of them.

use super::answers::{Answers, Choice};
use super::continuation::next;
use super::trust_question;
use crate::engine::core::Engine;
use crate::engine::editing::loaded::require_harness;
use crate::engine::refusal::Refusal;
use crate::plan::{InputError, Inputs};
use crate::run::event::Event;
use crate::run::state::Reason;
use crate::runs::open::Opened;
use crate::runs::replay::digest;
use std::path::Path;

/// Asks what every verb that drives must ask: the edited declaration, the harness and trust. Returns the events that record
/// the answers. `drives` is false when an open gate is only shown again, because its window shows what has changed.
pub fn before_driving(
    engine: &Engine,
    root: &Path,
    opened: &Opened,
    answers: &Answers,
    drives: bool,
) -> Result<Vec<Event>, Refusal> {
    let run = &opened.run;
    if let Some((input, variables)) = opened.hidden.iter().next() {
        let superpower = run.plan.name().to_owned();
        return Err(Refusal::HiddenInput { superpower, input: input.clone(), variables: variables.clone() });
    }
    let next = next(engine, root, opened, answers)?;
    require_harness(engine, root, next.edited.as_ref().unwrap_or(&run.plan), run.harness.as_deref())?;
    // Trust is last: an agreement is stored only if nothing else is refused.
    let mut events = trust_question::before_driving(engine, root, opened, &next, answers, drives)?;
    if let Some(why) = &next.gone {
        let words = format!(
            "{} continues with its own copy of the declaration: the superpower file {why}",
            run.plan.name()
        );
        engine.notice_answer(root, &words);
    }
    let Some(edited) = next.edited else { return Ok(events) };
    let declaration = opened
        .dir
        .keep_declaration(&next.bytes)
        .map_err(|error| Refusal::disk("cannot keep the edited declaration", error))?;
    let version = edited.declaration.version.value;
    let digest = Some(digest(&next.bytes));
    events.push(Event::DeclarationReplaced { declaration, digest, version });
    Ok(events)
}

/// Refuses inputs that the run does not have. A different value for one that it has is ignored, with a notice.
pub fn check_inputs(engine: &Engine, root: &Path, opened: &Opened, given: &Inputs) -> Result<(), Refusal> {
    let plan = &opened.run.plan;
    let declared = |key: &String| plan.declaration.inputs.iter().any(|input| input.name.value == *key);
    for (key, value) in given.iter().filter(|(key, _)| !plan.inputs.contains_key(*key) || declared(key)) {
        if !declared(key) {
            let known = plan.declaration.inputs.iter().map(|input| input.name.value.clone()).collect();
            let hint = String::new();
            return Err(InputError::Unknown { key: key.clone(), known, hint }.into());
        }
        let kept = plan.inputs.get(key).map_or("", String::as_str);
        if kept != value {
            let words =
                format!("the input \"{key}\" of {} stays \"{kept}\": resume cannot change it", plan.name());
            engine.notice_answer(root, &words);
        }
    }
    Ok(())
}

/// Asks about reviewed files that changed since the approval; returns the events for the answer.
pub fn review_changed_files(
    engine: &Engine,
    root: &Path,
    opened: &Opened,
    answers: &Answers,
) -> Result<Option<Vec<Event>>, Refusal> {
    if answers.has(Choice::GoOn) || opened.run.phase.reason().is_none_or(|reason| reason == Reason::Gate) {
        return Ok(None);
    }
    let host = engine.host();
    let files = host.comparer(&engine.cancel, root).changed_since_approval(&opened.dir, &opened.run);
    if files.is_empty() {
        return Ok(None);
    }
    let Some(decision) = opened.run.decisions.last() else { return Ok(None) };
    if answers.has(Choice::LookAgain) {
        return Ok(Some(vec![Event::GateReopened { stage: decision.stage }]));
    }
    Err(Refusal::FilesChanged { stage: decision.stage + 1, files })
}

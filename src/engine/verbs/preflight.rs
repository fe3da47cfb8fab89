//! What a verb may have to ask before it drives: trust, an edited declaration, files that changed after the approval.
//! A question is a refusal that names its answers; the verb is called again with them.

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

/// What every verb that drives asks first: an edited declaration, trust, and the harness. Gives the events that the
/// answers come to. `drives` is false where an open gate is only shown again: what has changed stands in its window.
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
    // Of all that can be refused here the last: a yes is kept for what is about to be driven.
    let mut events = trust_question::before_driving(engine, root, opened, &next, answers, drives)?;
    if let Some(why) = &next.gone {
        let words =
            format!("{} continues with the declaration that it kept: the file of it {why}", run.plan.name());
        engine.say_answer(root, &words);
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

/// Refuses inputs that a run does not have; of those that it has none is changed, which is said.
pub fn known_inputs(engine: &Engine, root: &Path, opened: &Opened, given: &Inputs) -> Result<(), Refusal> {
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
                format!("the input \"{key}\" of {} stays \"{kept}\": resume does not change it", plan.name());
            engine.say_answer(root, &words);
        }
    }
    Ok(())
}

/// Files under review that changed since the approval: a question, or the events of its answer.
pub fn look_again(
    engine: &Engine,
    root: &Path,
    opened: &Opened,
    answers: &Answers,
) -> Result<Option<Vec<Event>>, Refusal> {
    if answers.has(Choice::GoOn) || opened.run.phase.reason().is_none_or(|reason| reason == Reason::Gate) {
        return Ok(None);
    }
    let host = engine.host();
    let files = host.looks(&engine.cancel, root).changed_since_approval(&opened.dir, &opened.run);
    if files.is_empty() {
        return Ok(None);
    }
    let Some(decision) = opened.run.decisions.last() else { return Ok(None) };
    if answers.has(Choice::LookAgain) {
        return Ok(Some(vec![Event::GateReopened { stage: decision.stage }]));
    }
    Err(Refusal::FilesChanged { stage: decision.stage + 1, files })
}

//! What a verb may have to ask before it drives: trust, an edited declaration, files that changed after the approval.
//! A question is a refusal that names its answers; the verb is called again with them.

use super::loaded::Loaded;
use super::{Engine, Refusal};
use crate::driver::gate_review;
use crate::driver::open::{Opened, digest};
use crate::plan::Plan;
use crate::process::{Environment, Secrets};
use crate::run::drift::{Drift, compare};
use crate::run::event::Event;
use crate::run::state::Reason;
use serde::Deserialize;
use serde_json::json;
use std::path::Path;

/// An answer to a question that a verb was refused with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The declaration as it was.
    Old,
    /// The declaration as it is.
    New,
    /// Go on although files under review have changed since the approval.
    GoOn,
    /// Look at them again.
    LookAgain,
    /// A run that is not ours becomes ours.
    Adopt,
    /// Continue without what the journal has lost.
    Repair,
}

/// The answers given so far, as in `new,go-on`: one verb may have to ask more than one question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Answers(Vec<Choice>);

impl Answers {
    /// Whether this one was given.
    pub fn has(&self, choice: Choice) -> bool {
        self.0.contains(&choice)
    }
}

impl TryFrom<String> for Answers {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let choice = |word: &str| match word {
            "old" => Ok(Choice::Old),
            "new" => Ok(Choice::New),
            "go-on" => Ok(Choice::GoOn),
            "look-again" => Ok(Choice::LookAgain),
            "adopt" => Ok(Choice::Adopt),
            "repair" => Ok(Choice::Repair),
            _ => Err(format!(
                "unknown answer \"{word}\"; expected old, new, go-on, look-again, adopt or repair"
            )),
        };
        text.split(',').map(choice).collect::<Result<_, _>>().map(Self)
    }
}

/// An editor that a stage started does not decide over its own run.
pub fn nested(what: &str) -> Result<(), Refusal> {
    match crate::environ::get("SUPERPOWER_RUN_ID") {
        Some(_) => Err(Refusal::new(
            "nested",
            format!(
                "this editor was started by a stage of a superpower, and does not {what}; do it in your own editor"
            ),
        )),
        None => Ok(()),
    }
}

/// What every verb that drives asks first: an edited declaration, trust, and the harness. Gives the events that the
/// answers come to.
pub fn before_driving(
    engine: &Engine,
    root: &Path,
    opened: &Opened,
    answers: &Answers,
) -> Result<Vec<Event>, Refusal> {
    let run = &opened.run;
    if let Some((input, variables)) = opened.hidden.iter().next() {
        let name = run.plan.name();
        let message = format!(
            "the input \"{input}\" of {name} held a secret, which the run does not keep: start the editor with {} \
             set, and try again; or start anew with :Superpower run {name}",
            variables.join(", ")
        );
        return Err(Refusal::with(
            "hidden-input",
            message,
            json!({ "input": input, "variables": variables }),
        ));
    }
    // Without its file the run goes on with the copy that it kept, which was agreed to when it began.
    let loaded = match Loaded::find(engine, root, run.plan.name()) {
        Ok(loaded) => loaded,
        Err(gone) => {
            let name = run.plan.name();
            let why = if gone.code == "unknown-superpower" { "is no longer there" } else { &gone.message };
            engine.say_answer(
                root,
                &format!("{name} goes on with the declaration that it kept: the file of it {why}"),
            );
            return Ok(Vec::new());
        }
    };
    let edited = drift(opened, &loaded, answers)?;
    if loaded.checked.declaration.is_some() {
        loaded.require_trust(engine, root)?;
        loaded.require_harness(engine, edited.as_ref().unwrap_or(&run.plan), run.harness.as_deref())?;
    }
    let Some(edited) = edited else { return Ok(Vec::new()) };
    let declaration = opened
        .dir
        .keep_declaration(&loaded.bytes)
        .map_err(|error| Refusal::new("disk", format!("cannot keep the edited declaration: {error}")))?;
    let version = edited.declaration.version.value;
    let digest = Some(digest(&loaded.bytes));
    Ok(vec![Event::DeclarationReplaced { declaration, digest, version }])
}

/// The plan of an edited declaration that the run is to go on with, if it is another one.
fn drift(opened: &Opened, loaded: &Loaded, answers: &Answers) -> Result<Option<Plan>, Refusal> {
    let run = &opened.run;
    let kept = || opened.dir.declaration(&opened.declaration);
    let unchanged = || !opened.changed && kept().is_ok_and(|kept| kept == loaded.bytes);
    if answers.has(Choice::Old) || unchanged() {
        return Ok(None);
    }
    let name = run.plan.name();
    let unusable = |why: Vec<String>| {
        let message = format!(
            "{name} was edited while its run was paused, and cannot be used: {}; mend it, or go on with the old one \
             (answer=old)",
            why.join(", ")
        );
        Refusal::with("declaration-unusable", message, json!({ "differences": why }))
    };
    let Some(declaration) = loaded.checked.declaration.clone() else {
        return Err(unusable(loaded.errors()));
    };
    let plan = Plan::again(declaration, &run.plan.inputs)
        .map_err(|error| unusable(vec![format!("the inputs of this run do not fit it any more: {error}")]))?;
    match compare(&run.plan, &plan, run.cursor) {
        Drift::None => Ok(None),
        Drift::Differs(differences) if !answers.has(Choice::New) => {
            let message = format!(
                "{name} was edited while its run was paused: {}; go on with the old or the new one? (answer=old, \
                 answer=new)",
                differences.join(", ")
            );
            Err(Refusal::with("declaration-changed", message, json!({ "differences": differences })))
        }
        Drift::Harmless | Drift::Differs(_) => Ok(Some(plan)),
    }
}

/// Files under review that changed since the approval: a question, or the events of its answer.
pub fn look_again(root: &Path, opened: &Opened, answers: &Answers) -> Result<Option<Vec<Event>>, Refusal> {
    if answers.has(Choice::GoOn) || opened.run.phase.reason().is_none_or(|reason| reason == Reason::Gate) {
        return Ok(None);
    }
    let files = gate_review::changed_since_approval(
        root,
        &opened.dir,
        &opened.run,
        &Secrets::of(&Environment::current()),
    );
    if files.is_empty() {
        return Ok(None);
    }
    let Some(decision) = opened.run.decisions.last() else { return Ok(None) };
    if answers.has(Choice::LookAgain) {
        return Ok(Some(vec![Event::GateReopened { stage: decision.stage }]));
    }
    let message = format!(
        "since stage {} was approved, {} changed: go on, or look again? (answer=go-on, answer=look-again)",
        decision.stage + 1,
        files.join(", ")
    );
    Err(Refusal::with("files-changed", message, json!({ "files": files, "stage": decision.stage + 1 })))
}

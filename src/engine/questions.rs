//! What a verb may have to ask before it drives: trust, an edited declaration, files that changed after the approval.
//! A question is a refusal that names its answers; the verb is called again with them.

use super::loaded::Loaded;
use super::{Engine, Refusal};
use crate::driver::gate_review;
use crate::driver::open::Opened;
use crate::plan::Plan;
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
}

/// The answers given so far, as in `new,go-on`: one verb may have to ask more than one question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Answers(Vec<Choice>);

impl Answers {
    fn has(&self, choice: Choice) -> bool {
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
            _ => Err(format!("\"{word}\" is no answer: old, new, go-on or look-again")),
        };
        text.split(',').map(choice).collect::<Result<_, _>>().map(Self)
    }
}

/// An editor that a stage started does not decide over its own run.
pub fn nested(what: &str) -> Result<(), Refusal> {
    match std::env::var_os("SUPERPOWER_RUN_ID") {
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
    let plan = &opened.run.plan;
    // Without its file the run goes on with the copy that it kept, which was agreed to when it began.
    let Ok(loaded) = Loaded::find(engine, root, plan.name()) else { return Ok(Vec::new()) };
    let events = drift(opened, &loaded, answers)?;
    if loaded.checked.declaration.is_some() {
        loaded.require_trust(engine, root)?;
        loaded.require_harness(engine, plan, opened.run.harness.as_deref())?;
    }
    Ok(events)
}

fn drift(opened: &Opened, loaded: &Loaded, answers: &Answers) -> Result<Vec<Event>, Refusal> {
    let run = &opened.run;
    if answers.has(Choice::Old) {
        return Ok(Vec::new());
    }
    let unchanged = opened.dir.declaration(&opened.declaration).is_ok_and(|kept| kept == loaded.bytes);
    if unchanged {
        return Ok(Vec::new());
    }
    let changed = |differences: Vec<String>| {
        let message = format!(
            "{} was edited while its run was paused: {}; go on with the old or the new one? (answer=old, answer=new)",
            run.plan.name(),
            differences.join(", ")
        );
        Refusal::with("declaration-changed", message, json!({ "differences": differences }))
    };
    let Some(declaration) = loaded.checked.declaration.clone() else {
        return Err(changed(vec!["it has errors now, so only the old one can go on".into()]));
    };
    let version = declaration.version.value.clone();
    let plan = Plan::again(declaration, &run.plan.inputs)
        .map_err(|error| changed(vec![format!("the inputs of this run do not fit it any more: {error}")]))?;
    match compare(&run.plan, &plan, run.cursor) {
        Drift::None => return Ok(Vec::new()),
        Drift::Differs(differences) if !answers.has(Choice::New) => return Err(changed(differences)),
        Drift::Harmless | Drift::Differs(_) => {}
    }
    let declaration = opened
        .dir
        .keep_declaration(&loaded.bytes)
        .map_err(|error| Refusal::new("disk", format!("cannot keep the edited declaration: {error}")))?;
    Ok(vec![Event::DeclarationReplaced { declaration, version }])
}

/// Files under review that changed since the approval: a question, or the events of its answer.
pub fn look_again(root: &Path, opened: &Opened, answers: &Answers) -> Result<Option<Vec<Event>>, Refusal> {
    if answers.has(Choice::GoOn)
        || !matches!(opened.run.phase.reason(), Some(Reason::Interrupted | Reason::User))
    {
        return Ok(None);
    }
    let files = gate_review::changed_since_approval(root, &opened.dir, &opened.run);
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

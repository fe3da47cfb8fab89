//! Takes over another tool's `squad.json` as a paused run of ours. The file claims that stages have run and gates have
//! passed, and nothing else confirms that, so the claim is shown before the run drives anything.

use super::adoption_claim::claim;
use super::answers::{Answers, Choice};
use super::trust_question::TrustCheck;
use crate::config::Trust as Wanted;
use crate::declaration::model::Declaration;
use crate::driver::lock::StartError;
use crate::driver::start::{NewRun, begin};
use crate::engine::core::Engine;
use crate::engine::editing::loaded::{Loaded, require_harness};
use crate::engine::refusal::Refusal;
use crate::engine::refusal::untrusted::How;
use crate::plan::{InputError, Inputs, Plan};
use crate::project::trust::Trust;
use crate::run::event::Adopted;
use crate::store::squad::Squad;
use crate::store::{lease, names};
use crate::tolerant;
use std::path::Path;
use std::time::Duration;

pub enum Takeover<'a> {
    /// By a verb that drives it: the claim is shown first.
    Asking {
        /// Answers given so far.
        answers: &'a Answers,
        /// Values for inputs that the file lacks.
        inputs: &'a Inputs,
    },
    /// To keep it or end it: nothing is driven, so the claim is shown later.
    Quietly,
}

/// Our word for another tool's final status; `None` if its run has not ended.
pub fn over(squad: &Squad) -> Option<&'static str> {
    match tolerant::bare(&squad.status).trim().to_lowercase().as_str() {
        "complete" | "completed" | "done" => Some("complete"),
        "cancelled" | "canceled" => Some("cancelled"),
        "rejected" => Some("rejected"),
        _ => None,
    }
}

/// Takes over another tool's `squad.json` as a paused run of ours and returns the run's id.
pub fn adopt(engine: &Engine, root: &Path, squad: &Squad, takeover: &Takeover) -> Result<String, Refusal> {
    if let Some(state) = over(squad) {
        return Err(Refusal::SquadOver { superpower: squad.active_superpower.clone(), state });
    }
    if let Some(holder) = lease::holder(root) {
        return Err(StartError::DrivenElsewhere(holder).into());
    }
    let loaded = Loaded::find(engine, root, &squad.active_superpower)?;
    let Some(declaration) = loaded.checked.declaration.clone() else { return Err(loaded.invalid()) };
    let total = declaration.stages.len();
    if squad.current_stage > total {
        let (stage, superpower) = (squad.current_stage, squad.active_superpower.clone());
        return Err(Refusal::SquadPastEnd { stage, superpower, total });
    }
    let none = Inputs::new();
    let given = if let Takeover::Asking { inputs, .. } = takeover { inputs } else { &none };
    let inputs = inputs(engine, root, &declaration, squad, given)?;
    let plan = Plan::from_journal(declaration, &inputs.all);
    let asks = engine.config().trust == Wanted::Ask;
    let unasked = asks && matches!(takeover, Takeover::Quietly);
    let adopted = Adopted { stage: squad.current_stage - 1, status: squad.status.clone(), unasked };
    let claim = claim(&plan, &adopted);
    if let Takeover::Asking { answers, .. } = takeover {
        if asks {
            require_harness(engine, root, &plan, None)?;
            let check = TrustCheck::loaded(engine, root, &loaded, None)?;
            if check.trust != Trust::Trusted || !answers.has(Choice::Adopt) {
                return Err(check.refusal(engine, root, Some(claim), How::Continue));
            }
        } else {
            engine.notice_answer(root, &format!("took over {}: {claim}", squad.active_superpower));
        }
    }
    inputs.say(engine, root, &squad.active_superpower);
    let new = NewRun {
        plan,
        declaration: loaded.bytes,
        inputs: inputs.all,
        harness: None,
        by: "another tool".into(),
        adopted: Some(adopted),
    };
    let handle = begin(engine.host(), root, new)?;
    handle.go();
    handle.wait(Duration::from_secs(5));
    Ok(handle.run_id)
}

/// The inputs of a run that is taken over.
struct Given {
    all: Inputs,
    /// Keys that the superpower does not declare.
    undeclared: Vec<String>,
    /// Keys whose given value differs from the file's, with the file's value, which is used.
    unchanged: Vec<(String, String)>,
}

/// The file's inputs, completed by the given ones. A value in the file wins unless the input does not accept it, which a
/// notice says; undeclared inputs are kept.
fn inputs(
    engine: &Engine,
    root: &Path,
    declaration: &Declaration,
    squad: &Squad,
    given: &Inputs,
) -> Result<Given, Refusal> {
    let declared = |key: &String| declaration.inputs.iter().any(|input| input.name.value == *key);
    let (mut known, extra): (Inputs, Inputs) =
        squad.inputs.clone().into_iter().partition(|(key, _)| declared(key));
    // A value that the input does not accept counts as missing, so that the user is asked for it.
    let not_given = |key: &str, what: &str| {
        let words = format!("\"inputs.{key}\" in \"squad.json\" is {what} and counts as missing");
        engine.notice_answer(root, &words);
    };
    for (key, kind) in &squad.unfit_inputs {
        if known.remove(key).is_some() {
            not_given(key, &format!("{kind}, which is not valid for any input"));
        }
    }
    let required =
        |key: &String| declaration.inputs.iter().any(|input| input.name.value == *key && input.required);
    known.retain(|key, value| !(required(key) && value.is_empty()));
    while let Err(InputError::Invalid { key, .. }) = Plan::new(declaration.clone(), &known) {
        let value = known.remove(&key).unwrap_or_default();
        not_given(&key, &format!("\"{}\", which the input does not accept", names::line(&value, 80)));
    }
    let mut all = given.clone();
    let unchanged = known.iter().filter(|(key, value)| given.get(*key).is_some_and(|given| given != *value));
    let unchanged = unchanged.map(|(key, value)| (key.clone(), value.clone())).collect();
    all.extend(known);
    if let Err(error) = Plan::new(declaration.clone(), &all) {
        let superpower = squad.active_superpower.clone();
        return Err(Refusal::InputsOfSquad { error: Box::new(error), superpower, given: all });
    }
    let undeclared = extra.keys().cloned().collect();
    all.extend(extra);
    Ok(Given { all, undeclared, unchanged })
}

impl Given {
    fn say(&self, engine: &Engine, root: &Path, name: &str) {
        if !self.undeclared.is_empty() {
            let quoted: Vec<String> = self.undeclared.iter().map(|key| format!("\"{key}\"")).collect();
            let words = format!(
                "{name} does not declare {}, given in \"squad.json\": kept but not used",
                quoted.join(", ")
            );
            engine.notice_answer(root, &words);
        }
        for (key, value) in &self.unchanged {
            let words = format!("the input \"{key}\" of {name} stays \"{value}\": resume cannot change it");
            engine.notice_answer(root, &words);
        }
    }
}

//! Inlay hints after the stages of an open declaration: whether each would run, decided by the code that decides a run.

use super::lsp_types;
use super::open_documents::{Documents, Reading};
use super::preview::{Outlook, Step, simulated, steps};
use super::project_cache::Known;
use crate::assist::{self, Verdict};
use crate::condition::facts_in;
use crate::declaration::model::Input;
use crate::plan::Inputs;
use crate::run::state::Run;
use serde_json::{Value, json};

/// Maximum length of a hint, in characters; a longer one would push the text out of the window.
const MAX_LABEL: usize = 72;

/// Maximum number of stages that get hints; deciding more would block the editor.
const MAX_STAGES: usize = 1_000;

/// The hints of a document. While it has errors the last hints stay, as long as the number of stages is the same.
pub fn hints(documents: &Documents, reading: &Reading, known: &Known) -> Value {
    let checked = &reading.checked;
    if checked.draft.stages.len() > MAX_STAGES {
        return json!([]);
    }
    let stages = checked.draft.stages.len();
    let decided = checked.declaration.clone().and_then(|declaration| {
        let mut run = simulated(declaration, Inputs::new()).ok()?;
        let steps = steps(&mut run, &mut |name, inputs| known.fact(name, inputs));
        let conditional = |step: &Step| run.plan.when(step.stage).is_some();
        Some(steps.into_iter().filter(conditional).map(|step| verdict(&run, &step)).collect())
    });
    let verdicts: Vec<Verdict> = documents.verdicts(&reading.path, stages, decided);
    let hints = assist::hints(checked, &verdicts).into_iter().map(|hint| {
        let place = lsp_types::position(&checked.source, hint.offset);
        json!({
            "position": place, "label": hint.label, "tooltip": hint.tooltip, "paddingLeft": true,
        })
    });
    hints.collect()
}

fn verdict(run: &Run, step: &Step) -> Verdict {
    let asked = asked_for(run, step.stage);
    if !asked.is_empty() {
        let label = format!("depends on {}", asked.join(", "));
        let why = format!("{}\n\nThe run asks for {} before it starts.", step.why, asked.join(", "));
        return Verdict { stage: step.stage, label, why };
    }
    let word = match step.now {
        Outlook::IsSkipped => "would skip",
        Outlook::Asks => "would ask",
        Outlook::Runs => "would run",
        Outlook::Open => "decided when reached",
    };
    let reasons = reasons(run, step.stage);
    let reasons =
        if step.now == Outlook::Open || reasons.is_empty() { step.why.clone() } else { reasons.join(", ") };
    let (word, why) = if step.what == step.now {
        (word.to_owned(), step.why.clone())
    } else {
        let later = "An earlier stage may change that; it is decided when this stage is reached.";
        (format!("{word} as of now"), format!("{}\n\n{later}", step.why))
    };
    Verdict { stage: step.stage, label: short(&format!("{word}: {reasons}")), why }
}

/// Inputs in the stage's condition that the user must give when the run starts.
fn asked_for(run: &Run, stage: usize) -> Vec<&str> {
    let open = |name: &str| {
        let named = |input: &&Input| input.name.value == name;
        let input = run.plan.declaration.inputs.iter().find(named);
        input.is_some_and(|input| input.required && input.default.is_none())
    };
    let mut names: Vec<&str> = run.plan.when(stage).map_or(Vec::new(), |when| {
        when.variables().into_iter().map(|(name, _)| name).filter(|name| open(name)).collect()
    });
    names.dedup();
    names
}

/// The values of the condition's inputs, and the reasons of its facts.
fn reasons(run: &Run, stage: usize) -> Vec<String> {
    let Some(when) = run.plan.when(stage) else { return Vec::new() };
    let mut reasons: Vec<String> = Vec::new();
    for (name, _) in when.variables() {
        let value = run.plan.inputs.get(name).map_or("", String::as_str);
        let is = if value.is_empty() { "empty".to_owned() } else { format!("\"{value}\"") };
        reasons.push(format!("{name} is {is}"));
    }
    let facts = facts_in(when);
    reasons.extend(facts.iter().filter_map(|name| run.facts.get(*name)).map(|fact| fact.reason.clone()));
    reasons.dedup();
    reasons
}

fn short(text: &str) -> String {
    let text = crate::plan::one_line(text);
    if text.chars().count() <= MAX_LABEL {
        return text;
    }
    text.chars().take(MAX_LABEL - 1).chain(['…']).collect()
}

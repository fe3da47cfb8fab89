//! What a run would do with the project as it is now. Starts nothing.

use super::loaded::Loaded;
use crate::declaration::model::{Declaration, InputKind};
use crate::engine::core::Engine;
use crate::engine::refusal::Refusal;
use crate::harness::{Kind, resolve};
use crate::plan::{InputError, Inputs, Plan};
use crate::project::{Fact, facts};
use crate::run::decide::{Verdict, decide};
use crate::run::event::{Event, Record};
use crate::run::machine;
use crate::run::state::{FactRecord, Run};
use chrono::Utc;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preview {
    root: PathBuf,
    name: String,
    #[serde(default)]
    inputs: Inputs,
}

/// What happens to a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlook {
    Runs,
    IsSkipped,
    /// A gate that asks.
    Asks,
    /// Only decided during the run.
    Open,
}

impl Outlook {
    /// The word in the JSON.
    fn word(self) -> &'static str {
        match self {
            Self::Runs => "run",
            Self::IsSkipped => "skip",
            Self::Asks => "ask",
            Self::Open => "?",
        }
    }
}

/// What a stage would do.
pub struct Step {
    /// The stage's index in the declaration.
    pub stage: usize,
    /// The outcome, as far as it is certain.
    pub what: Outlook,
    /// The outcome for the project as it is now, even if an earlier stage may change it.
    pub now: Outlook,
    /// The reason, with the reasons of the facts that were decided.
    pub why: String,
}

/// A run of this declaration that has just started. Required inputs that are missing get placeholders.
pub fn simulated(declaration: Declaration, mut given: Inputs) -> Result<Run, InputError> {
    for input in &declaration.inputs {
        if input.required && input.default.is_none() && !given.contains_key(&input.name.value) {
            let placeholder = match &input.kind {
                InputKind::String => format!("<{}>", input.name.value),
                InputKind::Bool => "false".into(),
                InputKind::Enum(values) => {
                    values.first().map(|value| value.value.clone()).unwrap_or_default()
                }
            };
            given.insert(input.name.value.clone(), placeholder);
        }
    }
    let plan = Arc::new(Plan::new(declaration, &given)?);
    let started = Record {
        at: Utc::now(),
        event: Event::RunStarted {
            run_id: String::new(),
            superpower: plan.name().to_owned(),
            version: String::new(),
            declaration: String::new(),
            digest: None,
            inputs: given,
            harness: None,
            by: String::new(),
            adopted: None,
            hidden: Default::default(),
        },
    };
    Ok(machine::start(plan, &started).0)
}

/// What each stage would do, in execution order. `fact` decides a fact; it returns `None` for the user's own conditions.
pub fn steps(run: &mut Run, fact: &mut dyn FnMut(&str, &Inputs) -> Option<Fact>) -> Vec<Step> {
    let plan = run.plan.clone();
    let mut earlier_acts = false;
    let step = |&stage: &usize| {
        let gate = !plan.has_action(stage);
        let (now, why) = loop {
            match decide(run, stage) {
                Verdict::Decided { run: false, why } => break (Outlook::IsSkipped, why),
                Verdict::Decided { run: true, why } if gate && plan.has_human_gate(stage) => {
                    break (Outlook::Asks, why);
                }
                Verdict::Decided { run: true, why } => break (Outlook::Runs, why),
                Verdict::Needs(name) => match fact(&name, &plan.inputs) {
                    Some(known) => {
                        let record = FactRecord { value: known.value, reason: known.reason, stage };
                        run.facts.insert(name, record);
                    }
                    None => {
                        let why = format!("{name}: your own condition, decided when reached");
                        break (Outlook::Open, why);
                    }
                },
            }
        };
        let asked: Vec<&str> = plan
            .when(stage)
            .into_iter()
            .flat_map(crate::condition::facts_in)
            .filter_map(|name| run.facts.get(name).map(|fact| fact.reason.as_str()))
            .collect();
        let why = if asked.is_empty() { why } else { format!("{why}: {}", asked.join(", ")) };
        // An earlier stage may change a fact, so an outcome is certain only before the first stage that acts.
        let what = if earlier_acts && !asked.is_empty() { Outlook::Open } else { now };
        earlier_acts |= !gate && what != Outlook::IsSkipped;
        Step { stage, what, now, why }
    };
    plan.order.iter().map(step).collect()
}

/// Which stages would run, be skipped or ask, with the project as it is now.
pub fn plan(engine: &Engine, request: &Preview) -> Result<Value, Refusal> {
    let loaded = Loaded::find(engine, &request.root, &request.name)?;
    let Some(declaration) = loaded.checked.declaration.clone() else { return Err(loaded.invalid()) };
    let mut run = simulated(declaration, request.inputs.clone())?;
    let steps = steps(&mut run, &mut |name, inputs| facts::decide(name, inputs, &request.root));
    let plan = run.plan.clone();
    let (default, timeout) = (engine.config().harness, engine.config().timeout);
    let known = engine.host().harnesses.clone();
    // Shows which harness "auto" means here. A missing program is reported when a run starts.
    let root = Some(request.root.as_path());
    let found = |name: &str| match resolve(name, &known, root) {
        Ok(resolved) => (resolved.name, matches!(resolved.kind, Kind::Manual)),
        Err(_) => (name.to_owned(), false),
    };
    let stages = steps.into_iter().map(|Step { stage, what, why, .. }| {
        let actor = plan.actor(stage);
        let own = plan.stage(stage).harness.as_ref().map(|harness| harness.value.as_str());
        let harness = plan.has_action(stage).then(|| own.unwrap_or(&default));
        let limit = plan.stage(stage).timeout.as_ref().map_or(timeout, |timeout| timeout.value);
        let (by, by_hand) = harness.map(found).unzip();
        let limit = (by_hand != Some(true)).then_some(limit);
        json!({
            "position": stage + 1, "label": run.label(stage), "what": what.word(), "kind": actor.kind(), "actor": actor.name(),
            "gate": plan.has_human_gate(stage), "harness": harness, "by": by, "why": why,
            "prompt": plan.has_action(stage).then(|| crate::prompt::prompt(&run, stage, false, limit)),
        })
    });
    let stages: Vec<Value> = stages.collect();
    Ok(
        json!({ "superpower": plan.name(), "version": plan.declaration.version.value, "inputs": plan.inputs, "stages": stages }),
    )
}

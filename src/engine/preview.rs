//! What a run would do, as the project is now. Nothing is started.

use super::loaded::{Loaded, input_refusal};
use super::{Engine, Refusal};
use crate::declaration::model::InputKind;
use crate::plan::{Inputs, Plan};
use crate::project::facts;
use crate::run::decide::{Verdict, decide};
use crate::run::event::{Event, Record};
use crate::run::machine;
use crate::run::state::FactRecord;
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

/// What would run, be skipped and ask, as the project is now.
pub fn plan(engine: &Engine, request: &Preview) -> Result<Value, Refusal> {
    let loaded = Loaded::find(engine, &request.root, &request.name)?;
    let Some(declaration) = loaded.checked.declaration.clone() else { return Err(loaded.invalid()) };
    let mut given = request.inputs.clone();
    for input in &declaration.inputs {
        // What is asked for before a run is left open here.
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
    let plan = Arc::new(Plan::new(declaration, &given).map_err(input_refusal)?);
    let started = Record {
        at: Utc::now(),
        event: Event::RunStarted {
            run_id: String::new(),
            superpower: plan.name().to_owned(),
            version: String::new(),
            declaration: String::new(),
            inputs: given,
            harness: None,
            by: String::new(),
            adopted: None,
        },
    };
    let (mut run, _) = machine::start(plan.clone(), &started);
    let host = engine.host();
    let mut earlier_acts = false;
    let stages = plan.order.iter().map(|&stage| {
        let (kind, actor) = plan.actor(stage);
        let (what, why) = loop {
            match decide(&run, stage) {
                Verdict::Decided { run: false, why } => break ("skip", why),
                Verdict::Decided { run: true, why } if kind == "gate" && plan.asks(stage) => {
                    break ("ask", why);
                }
                Verdict::Decided { run: true, why } => break ("run", why),
                Verdict::Needs(fact) => match facts::decide(&fact, &plan.inputs, &request.root) {
                    Some(known) => {
                        let record = FactRecord { value: known.value, reason: known.reason, stage };
                        run.facts.insert(fact, record);
                    }
                    None => {
                        break ("?", format!("{fact}: your own condition, decided when the run gets here"));
                    }
                },
            }
        };
        let asked: Vec<&String> = plan
            .when(stage)
            .into_iter()
            .flat_map(crate::condition::facts_in)
            .filter_map(|name| run.facts.get(name).map(|fact| &fact.reason))
            .collect();
        let why = if asked.is_empty() {
            why
        } else {
            format!("{why}: {}", asked.iter().map(|text| text.as_str()).collect::<Vec<_>>().join(", "))
        };
        // An earlier stage may change what a fact says, so only what stands before all work is certain.
        let what = if earlier_acts && !asked.is_empty() { "?" } else { what };
        earlier_acts |= kind != "gate" && what != "skip";
        let own = plan.stage(stage).harness.as_ref().map(|harness| harness.value.as_str());
        let harness = (kind != "gate").then(|| own.unwrap_or(&host.config.harness));
        json!({
            "position": stage + 1, "label": run.label(stage), "what": what, "kind": kind, "actor": actor,
            "gate": plan.asks(stage), "harness": harness, "why": why,
            "prompt": (kind != "gate").then(|| crate::prompt::prompt(&run, stage, false)),
        })
    });
    let stages: Vec<Value> = stages.collect();
    Ok(
        json!({ "superpower": plan.name(), "version": plan.declaration.version.value, "inputs": plan.inputs, "stages": stages }),
    )
}

//! The contents of an open gate's window.

use super::opened::opened;
use crate::driver::gate_review::{self, LONGEST};
use crate::engine::core::Engine;
use crate::engine::refusal::Refusal;
use crate::engine::verbs::trust_question;
use crate::run::state::gate_id;
use crate::runs::open::Opened;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiffRequest {
    root: PathBuf,
    run_id: Option<String>,
    path: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewRequest {
    root: PathBuf,
    run_id: Option<String>,
    /// The number by which the comparison of files can be cancelled.
    look: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CancelRequest {
    look: u64,
}

/// Cancels a comparison of files.
pub fn cancel(engine: &Engine, request: &CancelRequest) -> Value {
    engine.comparisons.cancel(request.look);
    json!({})
}

/// The contents of the open gate's window, with the files as they are now.
pub fn review(engine: &Engine, request: &ReviewRequest) -> Result<Value, Refusal> {
    let opened = opened(engine, &request.root, request.run_id.as_deref())?;
    let run = &opened.run;
    let Some((stage, visit)) = run.open_gate() else {
        return Err(Refusal::NoGate(String::new()));
    };
    let gate = gate_id(stage, visit);
    let host = engine.host();
    let cancel = engine.comparisons.begin(&engine.cancel, request.look).within(LONGEST);
    let comparer = host.comparer(&cancel, &request.root);
    let (review, shown) = comparer.make(&opened.dir, run, stage, comparer.compare(run));
    engine.comparisons.end(request.look);
    let Some(shown) = shown else { return Err(Refusal::ComparisonCancelled) };
    engine.gate_lists.remember(run, stage, visit, &shown);
    let reporter = reporter(&opened, stage);
    let message = match reporter {
        None if run.stages[stage].visit.skipped_manually => {
            "The action of this stage was skipped manually.".into()
        }
        None => String::new(),
        Some(stage) => run.result(stage),
    };
    Ok(json!({
        "run_id": run.run_id, "superpower": run.plan.name(), "gate": gate, "stage": stage + 1,
        "total": run.plan.total(), "label": run.label(stage),
        "from": reporter.map(|stage| stage + 1),
        "actor": reporter.map(|stage| run.plan.actor(stage).name()),
        "worked_ms": reporter.map(|stage| run.stages[stage].visit.worked_ms),
        "message": message,
        "review": shown.id(), "files": review.files, "note": review.note, "left_out": review.left_out,
        "trust": trust_question::at_gate(engine, &request.root, &opened),
    }))
}

/// The stage whose work the gate is about: its own action, or else the nearest earlier action that ran.
fn reporter(opened: &Opened, gate: usize) -> Option<usize> {
    let run = &opened.run;
    if run.stages[gate].visit.skipped_manually {
        return None;
    }
    if run.plan.has_action(gate) && run.stages[gate].result.is_some() {
        return Some(gate);
    }
    run.action_before(gate)
}

/// The content of a file at the last approval.
pub fn diff(engine: &Engine, request: &DiffRequest) -> Result<Value, Refusal> {
    let opened = opened(engine, &request.root, request.run_id.as_deref())?;
    let host = engine.host();
    let path = gate_review::real(&request.root, &request.path, &host.secrets);
    let comparer = host.comparer(&engine.cancel, &request.root);
    let before = comparer.before(&opened.run, &path).map_err(Refusal::NoDiff)?;
    // Git settings and rules are not files that the editor could open, so their text is returned.
    let after = comparer.settings(&path);
    Ok(json!({ "before": before, "after": after, "after_path": request.root.join(path) }))
}

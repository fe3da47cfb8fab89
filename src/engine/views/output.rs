//! Finds the files of a stage's newest output and prompt, and the log lines of a run.

use super::opened::{OfRun, opened};
use crate::driver::Logged;
use crate::engine::core::Engine;
use crate::engine::refusal::{Refusal, StageReference};
use crate::engine::verbs::run_id::resolve_id;
use crate::engine::verbs::run_lookup;
use crate::runs::open;
use crate::terminal::visible;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    root: PathBuf,
    run_id: Option<String>,
    stage: usize,
    what: Part,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Part {
    Output,
    Prompt,
}

/// The path of a stage's newest output or prompt.
pub fn output(engine: &Engine, request: &Output) -> Result<Value, Refusal> {
    let opened = opened(engine, &request.root, request.run_id.as_deref())?;
    let run = &opened.run;
    let stage = request.stage.checked_sub(1).filter(|&stage| stage < run.plan.total());
    let stage = stage.ok_or(Refusal::UnknownStage(StageReference::Place(request.stage)))?;
    let none = Refusal::NoOutput { stage: request.stage, has_action: run.plan.has_action(stage) };
    let launch = run.stages[stage].launch.as_ref().ok_or(none)?.number;
    let file = match request.what {
        Part::Output => "output.log",
        Part::Prompt => "prompt.md",
    };
    Ok(json!({ "path": opened.dir.attempt(launch, stage).join(file) }))
}

/// The log lines of one run: those of its journal, or what its drive has announced.
pub fn log(engine: &Engine, request: &OfRun) -> Result<Value, Refusal> {
    let run_id = match &request.run_id {
        Some(given) => resolve_id(&request.root, given)?,
        None => run_lookup::shown(engine, &request.root)?,
    };
    let secrets = engine.secrets();
    let drive = engine.drive(&request.root).filter(|drive| drive.run_id == run_id && !drive.is_over());
    let driven = drive.map(|drive| drive.shared.log());
    let kept = match &driven {
        Some(Logged { before: 0, .. }) => Vec::new(),
        _ => open::log(&request.root, &run_id, &engine.keys())?,
    };
    let Logged { before, lines } = driven.unwrap_or(Logged { before: kept.len(), lines: Vec::new() });
    let shown = |line: &String| format!("[superpower] {}", visible(&secrets.mask(line)));
    let lines: Vec<String> = kept.iter().take(before).map(shown).chain(lines).collect();
    Ok(json!({ "run_id": run_id, "lines": lines }))
}

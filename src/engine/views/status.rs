//! The state of a run, and a list of all runs of a project.

use super::opened::{OfRun, opened};
use crate::driver::checkpoint_recovery;
use crate::engine::core::Engine;
use crate::engine::op::Reply;
use crate::engine::refusal::Refusal;
use crate::engine::verbs::run_id::resolve_id;
use crate::runs::list::summaries;
use crate::runs::picture::picture;
use crate::store::lease;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runs {
    root: PathBuf,
}

/// The requested run, or the current one. Null if there is none.
pub fn status(engine: &Engine, request: &OfRun) -> Result<Reply, Refusal> {
    let root = &request.root;
    let asked = request.run_id.as_deref().map(|given| resolve_id(root, given)).transpose()?;
    let is_asked = |run_id: &String| asked.as_ref().is_none_or(|asked| asked == run_id);
    if let Some(drive) = engine.drive(root).filter(|drive| !drive.is_over() && is_asked(&drive.run_id)) {
        return Ok(Reply::Text(drive.shared.text()));
    }
    match opened(engine, root, asked.as_deref()) {
        Ok(opened) => {
            if lease::holder(root).is_none() {
                checkpoint_recovery::look(root, &engine.unwritten, || engine.host());
            }
            let waiting = engine.unwritten.waiting(root, &opened.run.run_id);
            let mut picture = picture(root, Arc::unwrap_or_clone(opened));
            picture["checkpoint_waiting"] = json!(waiting);
            Ok(Reply::Value(picture))
        }
        Err(refusal) if refusal.is_nothing() => Ok(Reply::Value(Value::Null)),
        Err(refusal) => Err(refusal),
    }
}

/// All runs, newest first.
pub fn runs(engine: &Engine, request: &Runs) -> Result<Value, Refusal> {
    Ok(json!(summaries(&request.root, &engine.keys(), &engine.secrets())))
}

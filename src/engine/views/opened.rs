//! Opens the run that a view is about.

use crate::engine::core::Engine;
use crate::engine::refusal::Refusal;
use crate::engine::verbs::run_id::resolve_id;
use crate::engine::verbs::run_lookup;
use crate::runs::open::Opened;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A request about a run: the one with this id, or the current one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfRun {
    pub root: PathBuf,
    pub run_id: Option<String>,
}

/// Opens the requested run, or the current one.
pub fn opened(engine: &Engine, root: &Path, run_id: Option<&str>) -> Result<Arc<Opened>, Refusal> {
    let run_id = run_id.map_or_else(|| run_lookup::shown(engine, root), |given| resolve_id(root, given))?;
    Ok(engine.runs.open(root, &run_id, &engine.keys())?)
}

//! The run that a view is about.

use crate::engine::core::Engine;
use crate::engine::refusal::Refusal;
use crate::engine::verbs::run_id::identified;
use crate::engine::verbs::run_lookup;
use crate::runs::open::Opened;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A run of a project: the one of this id, or the one that is shown without asking.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfRun {
    pub root: PathBuf,
    pub run_id: Option<String>,
}

/// The run asked for, or the one that is shown without asking.
pub fn opened(engine: &Engine, root: &Path, run_id: Option<&str>) -> Result<Arc<Opened>, Refusal> {
    let run_id = run_id.map_or_else(|| run_lookup::shown(engine, root), |given| identified(root, given))?;
    Ok(engine.runs.open(root, &run_id, &engine.keys())?)
}

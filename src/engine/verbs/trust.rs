//! Shows and grants trust outside of a run.

use super::trust_question::{self, TrustCheck};
use crate::engine::core::Engine;
use crate::engine::editing::loaded::Loaded;
use crate::engine::refusal::Refusal;
use crate::project::trust::Trust;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;

/// A request about a superpower of a project.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Named {
    root: PathBuf,
    name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    root: PathBuf,
    name: String,
    digest: String,
}

pub fn trust(engine: &Engine, request: &Named) -> Result<Value, Refusal> {
    let loaded = Loaded::find(engine, &request.root, &request.name)?;
    let TrustCheck { subject, trust, .. } = TrustCheck::loaded(engine, &request.root, &loaded, None)?;
    Ok(json!({ "trusted": trust == Trust::Trusted, "digest": subject.digest, "sheet": subject.sheet }))
}

pub fn trust_grant(engine: &Engine, request: &Grant) -> Result<Value, Refusal> {
    trust_question::grant(engine, &request.root, &request.name, &request.digest)?;
    Ok(json!({}))
}

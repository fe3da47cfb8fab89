//! Trust asked about and given outside of a run.

use super::nested::nested;
use super::trust_question::{self, Judged};
use crate::engine::core::Engine;
use crate::engine::editing::loaded::Loaded;
use crate::engine::refusal::Refusal;
use crate::project::trust::Trust;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;

/// A superpower of a project.
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
    let Judged { subject, trust, .. } = Judged::loaded(engine, &request.root, &loaded, None)?;
    Ok(json!({ "trusted": trust == Trust::Trusted, "digest": subject.digest, "sheet": subject.sheet }))
}

pub fn trust_grant(engine: &Engine, request: &Grant) -> Result<Value, Refusal> {
    nested("agree to what runs")?;
    trust_question::grant(engine, &request.root, &request.name, &request.digest)?;
    Ok(json!({}))
}

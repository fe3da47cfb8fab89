//! Shows and grants trust outside of a run.

use super::answers::Answers;
use super::run_id::resolve_id;
use super::trust_question::{self, TrustCheck};
use crate::engine::core::Engine;
use crate::engine::editing::loaded::Loaded;
use crate::engine::refusal::Refusal;
use crate::runs::open::open;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;

/// A request about a superpower of a project, or about a run as it would continue.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    root: PathBuf,
    name: Option<String>,
    run_id: Option<String>,
    /// The harness that a run would be started with.
    harness: Option<String>,
    /// Which declaration a run would continue with.
    #[serde(default)]
    answer: Answers,
    /// The digest that was shown, of an answer.
    digest: Option<String>,
}

/// What would be driven, and whether the user has agreed to it.
pub fn trust(engine: &Engine, request: &Asked) -> Result<Value, Refusal> {
    let root = &request.root;
    match (&request.name, &request.run_id) {
        (Some(name), None) => {
            let loaded = Loaded::find(engine, root, name)?;
            let check = TrustCheck::loaded(engine, root, &loaded, request.harness.as_deref())?;
            Ok(check.shown(engine, root, None))
        }
        (None, Some(given)) => {
            let opened = open(root, &resolve_id(root, given)?, &engine.keys())?;
            trust_question::of_run(engine, root, &opened, &request.answer)
        }
        _ => Err(Refusal::BadRequest("trust takes a name or a run".into())),
    }
}

pub fn trust_grant(engine: &Engine, request: &Asked) -> Result<Value, Refusal> {
    let Some(digest) = &request.digest else {
        return Err(Refusal::BadRequest("an answer names the digest that was shown".into()));
    };
    if request.run_id.is_some() || request.harness.is_some() {
        // Another process may have shown it: what is there now is what the digest has to fit.
        trust(engine, request)?;
    }
    trust_question::grant(engine, &request.root, request.name.as_deref(), digest)?;
    Ok(json!({}))
}

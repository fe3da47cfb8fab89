//! The data for `:checkhealth superpower`.

use crate::engine::core::{Engine, PROTOCOL};
use crate::engine::editing::context::index;
use crate::engine::refusal::Refusal;
use crate::harness::{Need, needs, resolve};
use crate::process::{Environment, find_program};
use crate::runs::list::summaries;
use crate::store::lease;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Health {
    root: Option<PathBuf>,
}

/// The harnesses with their programs; for a project also its contents, its unfinished runs and its driver.
pub fn health(engine: &Engine, request: &Health) -> Result<Value, Refusal> {
    let host = engine.host();
    let harnesses: Vec<Value> = host
        .harnesses
        .named
        .keys()
        .map(|name| match resolve(name, &host.harnesses, request.root.as_deref()) {
            Ok(resolved) => {
                let need = |need: &Need| json!({ "since": need.version(), "otherwise": need.otherwise });
                let needs: Vec<Value> = needs(&resolved.kind).iter().map(need).collect();
                json!({ "name": name, "program": resolved.program, "needs": needs })
            }
            Err(missing) => json!({ "name": name, "program": null, "message": missing.message }),
        })
        .collect();
    let auto = resolve("auto", &host.harnesses, request.root.as_deref()).ok().map(|resolved| resolved.name);
    let mut answer = json!({
        "version": env!("CARGO_PKG_VERSION"), "protocol": PROTOCOL, "harnesses": harnesses, "auto": auto,
    });
    if let Some(program) = host.config.attention_command.first() {
        let found = find_program(program, &Environment::current(), request.root.as_deref());
        answer["attention_command"] = match found {
            Ok(path) => json!({ "program": path }),
            Err(missing) => json!({ "message": format!("\"{program}\" was not found{missing}") }),
        };
    }
    if let Some(root) = &request.root {
        let index = index(engine, root);
        answer["project"] = json!({
            "superpowers": index.superpowers.len(), "agents": index.agents.len(), "skills": index.skills.len(),
            "left": index.left.lines(),
            "unfinished": summaries(root, &engine.keys(), &engine.secrets()).into_iter().filter(|summary| !summary.over()).collect::<Vec<_>>(),
            "driver": lease::holder(root).map(|holder| json!(holder)),
            "lock": lease::path(root), "log": crate::store::log::path(root),
        });
    }
    Ok(answer)
}

//! An editor that an agent started: it tries to decide over the run that it belongs to.

use serde_json::{Value, json};
use superpower::engine::Engine;

/// Asks for each verb, and writes the answers to `said`.
pub fn tries_to_decide(root: &str) {
    let engine = Engine::new();
    let mut said = Vec::new();
    for op in ["decide", "retry", "skip"] {
        let mut request = json!({ "op": op, "root": root });
        if op == "decide" {
            request["decision"] = json!("approve");
        }
        said.push(serde_json::from_str::<Value>(&engine.call(&request.to_string())).unwrap());
    }
    std::fs::write(std::path::Path::new(root).join("said"), json!(said).to_string()).unwrap();
}

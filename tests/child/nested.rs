//! An editor that may have been started by an agent: it tries to decide and drive a project's run.

use serde_json::{Value, json};
use superpower::engine::Engine;

/// The operations that only users may call.
const FOR_HUMANS: [&str; 9] =
    ["answer", "cancel", "decide", "resume", "retry", "run", "skip", "submit", "trust-grant"];

/// Calls each of them with minimal fields, so that nothing happens even if one is not refused. Writes the codes and
/// messages of the answers to `said`.
pub fn tries_to_decide(root: &str) {
    let engine = Engine::new();
    let mut codes = Vec::new();
    for op in FOR_HUMANS {
        let request = json!({ "op": op, "root": root, "no-such-field": true });
        let answer: Value = serde_json::from_str(&engine.call(&request.to_string())).unwrap();
        codes.push(answer["err"]["code"].clone());
    }
    let events: Value = serde_json::from_str(&engine.poll(100)).unwrap();
    let said = json!({ "codes": codes, "events": events });
    let root = std::path::Path::new(root);
    std::fs::write(root.join("said.part"), said.to_string()).unwrap();
    std::fs::rename(root.join("said.part"), root.join("said")).unwrap();
}

//! The editor that a test kills at some moment, and the one that continues the run to its end.

use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

/// Starts or resumes the run `twelve`, and decides each gate, until it is complete.
pub fn drives_to_the_end(root: &str, state: &str) {
    let root = Path::new(root).canonicalize().unwrap();
    let engine = superpower::engine::Engine::new();
    let call = |op: &str, mut fields: Value| -> Value {
        fields["op"] = json!(op);
        if op != "configure" {
            fields["root"] = json!(root);
        }
        serde_json::from_str(&engine.call(&fields.to_string())).unwrap()
    };
    let config = json!({
        "harness": "command", "trust": "always", "state_dir": state,
        "harnesses": { "command": { "cmd": [root.join("agent"), "{agent}"] } },
    });
    call("configure", json!({ "config": config }));
    for _ in 0..200 {
        let picture = call("status", json!({}))["ok"].clone();
        let state = picture["state"].as_str().unwrap_or("none");
        match (state, picture["reason"].as_str()) {
            ("none", _) => call("run", json!({ "name": "twelve" })),
            ("complete", _) => return,
            ("paused", Some("gate")) => {
                let first = picture["gate"]["id"] == "7.1";
                let decision = if first { "changes" } else { "approve" };
                call(
                    "decide",
                    json!({ "decision": decision, "comment": "so", "gate": picture["gate"]["id"] }),
                )
            }
            ("paused", _) => call("resume", json!({})),
            _ => Value::Null,
        };
        let end = Instant::now() + Duration::from_secs(20);
        while call("status", json!({}))["ok"]["state"] == "running" && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
        while superpower::store::lease::holder(&root).is_some() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    panic!("it does not come to an end");
}

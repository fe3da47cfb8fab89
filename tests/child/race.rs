//! Another editor on the same project, which decides on a signal, or drives.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use superpower::engine::Engine;

struct Editor {
    root: PathBuf,
    engine: Arc<Engine>,
}

impl Editor {
    fn new(root: &str, state: &str) -> Self {
        let root = Path::new(root).canonicalize().unwrap();
        let engine = Engine::new();
        let config = json!({
            "harness": "command", "trust": "always", "state_dir": state,
            "harnesses": { "command": { "cmd": [root.join("bin/agent"), "{agent}{skill}"] } },
        });
        engine.call(&json!({ "op": "configure", "config": config }).to_string());
        Self { root, engine }
    }

    fn call(&self, op: &str, mut fields: Value) -> Value {
        fields["op"] = json!(op);
        fields["root"] = json!(self.root);
        serde_json::from_str(&self.engine.call(&fields.to_string())).unwrap()
    }

    fn drives(&self) {
        while self.call("status", json!({}))["ok"]["state"] == "running" {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Starts a run and drives it until it stops.
pub fn drives(root: &str, state: &str) {
    let editor = Editor::new(root, state);
    assert!(editor.call("run", json!({ "name": "gate" })).get("ok").is_some());
    editor.drives();
}

/// Decides as soon as the file `now` exists. The editor whose decision counts drives the run to its end.
pub fn decides(root: &str, state: &str) {
    let editor = Editor::new(root, state);
    let file = |name: &str| editor.root.join(format!("{name}-{}", std::process::id()));
    std::fs::write(file("ready"), "").unwrap();
    while !editor.root.join("now").exists() {
        std::thread::sleep(Duration::from_micros(200));
    }
    let answer = editor.call("decide", json!({ "decision": "approve", "gate": "2.1" }));
    std::fs::write(file("said"), answer.to_string()).unwrap();
    if answer.get("ok").is_some() {
        editor.drives();
    }
}

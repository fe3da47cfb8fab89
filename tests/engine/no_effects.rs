//! Viewing a project has no effects.

use crate::alone::alone;
use crate::world::World;
use serde_json::json;
use std::fs;

#[test]
fn viewing_a_project_starts_nothing_and_writes_nothing() {
    // Threads are counted.
    alone("no_effects::viewing_a_project_starts_nothing_and_writes_nothing", &[], look);
}

fn look() {
    let threads = || fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    let world = World::new();
    world.declare("two", "stages:\n  - {agent: maker}\n  - {gate: human-approval}\n");
    let before = threads();
    for (op, fields) in [
        ("list", json!({})),
        ("check", json!({ "path": world.path(".claude/superpowers/two.yaml") })),
        ("inputs", json!({ "name": "two" })),
        ("plan", json!({ "name": "two" })),
        ("status", json!({})),
        ("runs", json!({})),
        ("trust", json!({ "name": "two" })),
        ("health", json!({})),
    ] {
        world.ok(op, fields);
    }
    assert_eq!(threads(), before);
    assert!(!world.path(".claude/state").exists() && !world.path(".claude/logs").exists());
    assert!(world.calls().is_empty());
}

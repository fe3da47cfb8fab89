//! What an approval was given for, and whether it is still there.

use crate::world::World;
use serde_json::json;
use std::fs;

const GATE: &str = "stages:\n  - {agent: a}\n  - {gate: human-approval}\n  - {agent: b}\n";

/// A run that waits at a gate, with `plan.md` under review.
fn at_gate() -> (World, String) {
    let world = World::new();
    world.declare("gate", GATE);
    world.write(".gitignore", "calls\n.prompt\n");
    world.hook("[ $1 = a ] && echo plan > plan.md; echo done");
    let run_id = world.run("gate", json!({}));
    assert_eq!(world.settled()["gate"]["id"], "2.1");
    (world, run_id)
}

/// The same, approved by an editor that died before the next stage began.
fn approved() -> World {
    let (mut world, run_id) = at_gate();
    world.ok("decide", json!({ "decision": "approve" }));
    world.settled();
    world.restart();
    let journal = format!(".claude/state/runs/{run_id}/journal.jsonl");
    let text = world.read(&journal);
    let decided = text.find("\"gate-decided\"").unwrap();
    let end = decided + text[decided..].find('\n').unwrap();
    world.write(&journal, &text[..=end]);
    world
}

#[test]
fn a_file_that_was_written_anew_as_it_was_is_not_asked_about() {
    let world = approved();
    world.write("plan.md", "plan\n");
    world.write("another.md", "not under review\n");
    world.ok("resume", json!({}));
    assert_eq!(world.settled()["state"], "complete");
}

#[test]
fn a_file_that_is_gone_is_asked_about() {
    let world = approved();
    fs::remove_file(world.path("plan.md")).unwrap();
    let message = world.refused("resume", json!({}), "files-changed");
    assert!(message.contains("plan.md"), "{message}");
    world.ok("resume", json!({ "answer": "go-on" }));
    assert_eq!(world.settled()["state"], "complete");
}

/// The editor waits for the answer to a decision, and a large tree takes git longer than a frame.
#[test]
fn deciding_looks_at_the_files_under_review_and_not_at_the_whole_tree() {
    let (world, run_id) = at_gate();
    let snapshot =
        || fs::metadata(world.path(".claude/state/review.git/snapshot.lock")).unwrap().modified().unwrap();
    let before = snapshot();
    world.ok("decide", json!({ "decision": "reject" }));
    world.settled();
    assert_eq!(snapshot(), before);
    let journal = world.read(&format!(".claude/state/runs/{run_id}/journal.jsonl"));
    let digest = journal.split("\"digest\":\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(digest.len(), 64, "{digest}");
}

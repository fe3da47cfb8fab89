//! What an approval covers, and whether it has changed since.

use crate::world::World;
use serde_json::json;
use std::fs;
use superpower::driver::gate_review::Comparer;
use superpower::project::review::CancelToken;

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

/// A run approved by an editor that died before the next stage began.
fn approved() -> World {
    approved_until("gate-decided")
}

/// A run whose journal is cut after the last line with this text.
fn approved_until(last: &str) -> World {
    let (mut world, run_id) = at_gate();
    world.ok("decide", json!({ "decision": "approve" }));
    world.settled();
    world.restart();
    world.cut_journal_where(&run_id, |text| {
        let decided = text.find("\"gate-decided\"")?;
        Some(decided + text[decided..].find(&format!("\"{last}\""))?)
    });
    world
}

/// The next stage was decided, but its agent never started: the stage has not started.
#[test]
fn a_decided_stage_has_not_started() {
    let world = approved_until("stage-decided");
    world.write("plan.md", "evil\n");
    let message = world.refused("resume", json!({}), "files-changed");
    assert!(message.contains("plan.md"), "{message}");
    world.ok("resume", json!({ "answer": "look-again" }));
    assert_eq!(world.settled()["gate"]["id"], "2.2");
    assert_eq!(world.calls(), ["a", "b"], "the second is from before");
    world.ok("decide", json!({ "decision": "approve" }));
    assert_eq!(world.settled()["state"], "complete");

    // The same holds for a stage that may not start, whichever verb continues the run.
    let world = World::new();
    world.declare(
        "fix",
        "inputs:\n  - {name: track_id, default: t}\nstages:\n  - {agent: a}\n  - {gate: human-approval}\n  - {agent: loop-fixer}\n",
    );
    let document = |max: u32| {
        let state = json!({ "fix_cycle_count": 4, "max_fix_cycles": max, "checkpoints": {} });
        world.write("conductor/tracks/t/metadata.json", &json!({ "loop_state": state }).to_string());
    };
    document(3);
    world.hook("[ $1 = a ] && echo plan > plan.md; echo done");
    world.run("fix", json!({}));
    assert_eq!(world.settled()["gate"]["id"], "2.1");
    world.ok("decide", json!({ "decision": "approve" }));
    assert_eq!(world.settled()["reason"], "blocked");
    document(9);
    world.write("plan.md", "evil\n");
    for verb in ["retry", "skip", "resume"] {
        world.refused(verb, json!({}), "files-changed");
    }
    world.ok("retry", json!({ "answer": "look-again" }));
    assert_eq!(world.settled()["gate"]["id"], "2.2");
    world.ok("decide", json!({ "decision": "approve" }));
    assert_eq!(world.settled()["state"], "complete");
    assert_eq!(world.calls(), ["a", "loop-fixer"]);
}

#[test]
fn a_file_rewritten_unchanged_is_not_asked_about() {
    let world = approved();
    world.write("plan.md", "plan\n");
    world.write("another.md", "not under review\n");
    world.ok("resume", json!({}));
    assert_eq!(world.settled()["state"], "complete");
}

#[test]
fn a_deleted_file_is_asked_about() {
    let world = approved();
    fs::remove_file(world.path("plan.md")).unwrap();
    let message = world.refused("resume", json!({}), "files-changed");
    assert!(message.contains("plan.md"), "{message}");
    world.ok("resume", json!({ "answer": "go-on" }));
    assert_eq!(world.settled()["state"], "complete");
}

/// The editor waits for a decision's answer, and in a large tree git takes longer than a frame.
#[test]
fn deciding_compares_the_reviewed_files_only() {
    let (world, run_id) = at_gate();
    // A comparison of the whole tree would wait for this lock, time out, and decide without a digest.
    let lock = fs::File::open(world.reviews().join("snapshot.lock")).unwrap();
    lock.lock().unwrap();
    world.ok("decide", json!({ "decision": "reject" }));
    world.settled();
    drop(lock);
    let journal = world.read(&format!(".claude/state/runs/{run_id}/journal.jsonl"));
    let digest = journal.split("\"digest\":\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(digest.len(), 64, "{digest}");
}

const TWO_GATES: &str =
    "stages:\n  - {agent: a}\n  - {gate: human-approval}\n  - {agent: b}\n  - {gate: human-approval}\n";

/// The editor dies after its approval is in the journal, and before the baseline is recorded.
#[test]
fn an_approval_of_an_old_journal_without_its_baseline_lists_what_it_approved_again() {
    for heard in [false, true] {
        let mut world = World::new();
        world.declare("gates", TWO_GATES);
        world.write(".gitignore", "calls\n.prompt\nagent-hook\n");
        world.hook("echo $1 > $1.md; echo done");
        let run_id = world.run("gates", json!({}));
        world.settled();
        world.ok("decide", json!({ "decision": "approve" }));
        assert_eq!(world.settled()["gate"]["id"], "4.1");
        world.restart();
        world.cut_journal_where(&run_id, |text| {
            if heard { text.rfind("\"agent-started\"") } else { text.find("\"gate-decided\"") }
        });
        let text = world.journal(&run_id);
        let (before, after) = text.split_at(text.find("\"gate-decided\"").unwrap());
        assert!(before.contains("\"baseline-taken\""));
        let (lead, named) = after.split_once("\"review\":\"").unwrap();
        let after = format!("{lead}{}", &named[named.find(',').unwrap() + 1..]);
        world.write_journal(&run_id, &format!("{before}{after}"));
        fs::remove_file(world.path("b.md")).unwrap();
        world.ok("resume", json!({}));
        assert_eq!(world.settled()["gate"]["id"], "4.1");
        let review = world.ok("review", json!({}));
        let files: Vec<&str> =
            review["files"].as_array().unwrap().iter().map(|it| it["path"].as_str().unwrap()).collect();
        assert_eq!(files, ["a.md", "b.md"]);
    }
}

#[test]
fn the_comparison_at_an_attempts_end_is_reused() {
    let (world, run_id) = at_gate();
    let opened = world.opened(&run_id);
    let (cancel, secrets) = (CancelToken::default(), superpower::process::Secrets::default());
    let keys = world.keys();
    let comparer = |root| Comparer { cancel: &cancel, root, keys: &keys, secrets: &secrets };
    let root = world.root();
    let looked = comparer(&root).compare(&opened.run).unwrap();
    let nowhere = comparer(std::path::Path::new("/nowhere"));
    let (review, shown) = nowhere.make(&opened.dir, &opened.run, 1, Ok(looked));
    assert_eq!((review.note, review.files.len()), (None, 1), "plan.md");
    assert_eq!(shown.as_ref(), opened.run.shown_at(1, 1).last(), "as the journal has it");
    let (review, shown) = nowhere.make(&opened.dir, &opened.run, 1, nowhere.compare(&opened.run));
    assert!(review.note.is_some() && shown.unwrap().tree.is_none());
}

//! The files on disk after crashes, damage, and changes by other tools and versions.

use crate::world::World;
use serde_json::{Value, json};
use std::fs;

const THREE: &str = "inputs:\n  - {name: epic}\nstages:\n  - {agent: a, description: A}\n  - {gate: human-approval, description: G}\n  - {agent: b, description: B}\n  - {agent: c, gate: human-approval, description: C}\n";

fn foreign(world: &World, squad: Value) {
    world.write(".claude/state/squad.json", &squad.to_string());
}

#[test]
fn a_run_whose_editor_was_killed_is_interrupted_and_can_continue() {
    let mut world = World::new();
    world.declare("three", THREE);
    world.run("three", json!({}));
    let picture = world.settled();
    // As a crash during the first stage would leave it: the journal without its end.
    world.restart();
    let run_id = picture["run_id"].as_str().unwrap();
    let text = world.journal(run_id);
    let upto = text.find("\"attempt-ended\"").unwrap();
    let upto = text[..upto].rfind('\n').unwrap();
    world.write_journal(run_id, &format!("{}{}", &text[..=upto], "{\"at\":\"2026-01-01T00:00:00Z\",\"ev"));
    let mut squad = world.squad();
    squad["status"] = json!("running");
    foreign(&world, squad);
    let picture = world.status();
    assert_eq!((&picture["state"], &picture["reason"]), (&json!("paused"), &json!("interrupted")));
    world.refused("decide", json!({ "decision": "approve" }), "no-gate");
    assert_eq!(world.squad()["status"], "paused", "whoever takes the lock rewrites squad.json");
    world.ok("resume", json!({}));
    assert_eq!(world.settled()["gate"]["id"], "2.1");
    assert_eq!(world.calls(), ["a", "a"]);
}

#[test]
fn another_tools_squad_is_taken_over() {
    let world = World::new();
    world.declare("three", THREE);
    let at = |stage: Value, status: &str| json!({ "active_superpower": "three", "current_stage": stage, "status": status, "inputs": { "epic": "x" }, "mood": "good" });
    // At a gate stage, the gate asks.
    foreign(&world, at(json!(2), "paused"));
    world.ok("resume", json!({}));
    let picture = world.settled();
    assert_eq!((&picture["reason"], &picture["gate"]["id"]), (&json!("gate"), &json!("2.1")), "{picture:#}");
    assert!(world.calls().is_empty());
    assert_eq!(world.squad()["mood"], "good", "foreign fields stay");
    // At an action the stage runs.
    foreign(&world, at(json!(3), "paused"));
    world.ok("resume", json!({ "which": "three" }));
    assert_eq!(world.settled()["gate"]["id"], "4.1");
    assert_eq!(world.calls(), ["b", "c"]);
    // With both: if paused, the gate is open and the work is not repeated; if not paused, the work is done.
    foreign(&world, at(json!(4), "paused"));
    // Nobody has been shown its files yet.
    world.refused("decide", json!({ "decision": "approve" }), "not-shown");
    world.ok("decide", json!({ "decision": "approve" }));
    assert_eq!(world.settled()["state"], "complete");
    assert_eq!(world.calls(), ["b", "c"]);
    foreign(&world, at(json!(4), "running"));
    world.ok("resume", json!({}));
    assert_eq!(world.settled()["gate"]["id"], "4.1");
    assert_eq!(world.calls(), ["b", "c", "c"]);
    // Stage 0 or no stage means stage 1; a byte-order mark is accepted.
    world.write(".claude/state/squad.json", &format!("\u{feff}{}", at(json!(0), "paused")));
    world.ok("resume", json!({}));
    assert_eq!(world.settled()["gate"]["id"], "2.1");
    assert_eq!(world.calls().last().unwrap(), "a");
}

#[test]
fn an_invalid_foreign_squad_is_refused_and_left_unchanged() {
    let world = World::new();
    world.declare("three", THREE);
    for (squad, code, says) in [
        (
            json!({ "active_superpower": "three", "current_stage": "four", "status": "paused" }),
            "unreadable-squad",
            "four",
        ),
        (
            json!({ "active_superpower": "three", "current_stage": 9, "status": "paused" }),
            "foreign-squad",
            "9",
        ),
        (
            json!({ "active_superpower": "nine", "current_stage": 1, "status": "paused" }),
            "unknown-superpower",
            "nine",
        ),
        (
            json!({ "active_superpower": "three", "current_stage": 2, "status": "rejected" }),
            "finished",
            "rejected",
        ),
        (
            json!({ "active_superpower": "three", "current_stage": 4, "status": "Completed" }),
            "finished",
            "complete",
        ),
    ] {
        foreign(&world, squad.clone());
        let message = world.refused("resume", json!({}), code);
        assert!(message.contains(says), "{message}");
        assert_eq!(message.contains(":Superpower cancel moves"), code != "finished", "{message}");
        assert_eq!(world.squad(), squad);
    }
}

#[test]
fn an_unreadable_squad_is_moved_aside_and_never_overwritten() {
    let world = World::new();
    world.declare("three", THREE);
    world.write(".claude/state/squad.json", "{\"active_superpower\": \"thr");
    let message = world.refused("resume", json!({}), "unreadable-squad");
    assert!(message.contains("squad.json.corrupt-"), "{message}");
    let aside = fs::read_dir(world.path(".claude/state")).unwrap().filter_map(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        name.starts_with("squad.json.corrupt-").then_some(name)
    });
    let aside: Vec<String> = aside.collect();
    assert_eq!(aside.len(), 1);
    assert_eq!(world.read(&format!(".claude/state/{}", aside[0])), "{\"active_superpower\": \"thr");
    world.run("three", json!({}));
    world.settled();
    // Starting a run over an unreadable file moves it aside as well.
    world.write(".claude/state/squad.json", "garbage");
    world.refused("cancel", json!({}), "unreadable-squad");
}

#[test]
fn a_harmless_edit_continues_and_any_other_asks() {
    let world = World::new();
    world.declare("three", THREE);
    world.run("three", json!({}));
    world.settled();
    world
        .declare("three", &THREE.replace("agent: b", "agent: bb").replace("stages:", "tags: [new]\nstages:"));
    world.look();
    world.ok("decide", json!({ "decision": "approve" }));
    world.settled();
    assert_eq!(world.calls(), ["a", "bb", "c"]);
    // The user removed the open gate on purpose.
    world.declare("three", &THREE.replace("{agent: c, gate: human-approval", "{agent: c"));
    world.look();
    let message = world.refused("decide", json!({ "decision": "approve" }), "declaration-changed");
    assert!(message.contains("answer=old"), "{message}");
    world.ok("decide", json!({ "decision": "approve", "answer": "old" }));
    assert_eq!(world.settled()["state"], "complete");
}

#[test]
fn files_changed_after_the_approval_are_listed_and_asked_about() {
    let mut world = World::new();
    world.declare("three", THREE);
    world.write("agent-hook", "");
    world.hook("test $1 = a && echo plan > plan.md; echo done");
    let run_id = world.run("three", json!({}));
    world.settled();
    let review = world.ok("review", json!({}));
    let files = review["files"].as_array().unwrap();
    let plan = files.iter().find(|file| file["path"] == "plan.md").unwrap();
    assert_eq!((&plan["status"], &plan["added"]), (&json!("+"), &json!(1)));
    world.ok("decide", json!({ "decision": "approve" }));
    world.settled();
    world.restart();
    // As a crash between the approval and the next stage would leave it.
    world.cut_journal(&run_id, "\"gate-decided\"");
    world.write("plan.md", "another plan\n");
    let message = world.refused("resume", json!({}), "files-changed");
    assert!(message.contains("plan.md"), "{message}");
    world.ok("resume", json!({ "answer": "look-again" }));
    assert_eq!(world.settled()["gate"]["id"], "2.2");
    world.ok("decide", json!({ "decision": "approve" }));
    assert_eq!(world.settled()["gate"]["id"], "4.1");
}

#[test]
fn a_journal_in_a_newer_format_is_shown_but_never_written() {
    let mut world = World::new();
    world.declare("three", THREE);
    let run_id = world.run("three", json!({}));
    world.settled();
    world.restart();
    let journal = format!(".claude/state/runs/{run_id}/journal.jsonl");
    let newer = world.journal(&run_id).replacen("\"format\":2", "\"format\":3", 1);
    world.write_journal(&run_id, &newer);
    let text = world.read(&journal);
    assert_eq!(world.status()["gate"]["id"], "2.1");
    let call = world.call("decide", json!({ "decision": "approve" }));
    assert!(call["err"]["message"].as_str().unwrap().contains("update superpower.nvim"), "{call}");
    assert_eq!(world.read(&journal), text);
}

#[test]
fn a_state_directory_that_leads_out_of_the_project_is_refused() {
    let world = World::new();
    world.declare("three", THREE);
    let elsewhere = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), world.path(".claude/state")).unwrap();
    let message = world.refused("run", json!({ "name": "three" }), "disk");
    assert!(message.contains(".claude/state\" is a link; remove it"), "{message}");
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

#[test]
fn a_pattern_in_an_input_value_does_not_match_expected_files() {
    let world = World::new();
    world.declare(
        "expects",
        "inputs:\n  - {name: slug}\nstages:\n  - {agent: a, max_attempts: 1, expects: {files: ['docs/{{slug}}/*.md']}}\n",
    );
    world.hook("mkdir -p docs/other docs/x-[1]; echo 1 > docs/other/a.md; test -e right && echo 1 > 'docs/x-[1]/a.md'; echo done");
    world.run("expects", json!({ "slug": "*" }));
    let picture = world.settled();
    assert_eq!(picture["reason"], "failed");
    assert!(picture["detail"].as_str().unwrap().contains("was written"), "{picture:#}");
    world.ok("cancel", json!({}));
    world.settled();
    world.write("right", "");
    world.run("expects", json!({ "slug": "x-[1]" }));
    assert_eq!(world.settled()["state"], "complete");
}

const NAMED: &str = "stages:
  - {name: first, agent: a}
  - {name: look, gate: human-approval}
  - {name: second, agent: b, gate: human-approval}
  - {name: third, agent: c}
";

#[test]
fn an_approval_never_applies_to_another_gate() {
    let world = World::new();
    world.declare("named", NAMED);
    world.run("named", json!({}));
    world.settled();
    world.declare("named", &NAMED.replace("  - {name: look, gate: human-approval}\n", ""));
    world.look();
    let message = world.refused("decide", json!({ "decision": "approve", "answer": "new" }), "no-gate");
    assert!(!message.is_empty());
    assert_eq!(world.calls(), ["a"], "nothing is gone on with");
    assert_eq!(world.status()["gate"]["id"], "2.1", "and the old gate waits as before");
    world.ok("resume", json!({ "answer": "new" }));
    let picture = world.settled();
    assert_eq!(
        (&picture["gate"]["id"], world.calls()),
        (&json!("2.2"), vec!["a".into(), "b".into()]),
        "{picture:#}"
    );
}

#[test]
fn an_inserted_stage_runs_and_no_other_runs_again() {
    let world = World::new();
    world.declare("named", NAMED);
    world.run("named", json!({}));
    world.settled();
    world.declare("named", &NAMED.replace("stages:\n", "stages:\n  - {name: zero, agent: z}\n"));
    world.refused("resume", json!({}), "declaration-changed");
    world.ok("resume", json!({ "answer": "new" }));
    let picture = world.settled();
    assert_eq!(world.calls(), ["a", "z"]);
    assert_eq!(picture["gate"]["stage"], 3, "{picture:#}");
    world.ok("decide", json!({ "decision": "approve" }));
    assert_eq!(world.settled()["gate"]["stage"], 4);
    assert_eq!(world.calls(), ["a", "z", "b"]);
}

#[test]
fn terminal_sequences_are_made_visible_in_the_log() {
    let world = World::new();
    world.declare("loud", "stages:\n  - {agent: a, description: \"Do\\e[2J\\0\\u202eit\"}\n");
    world.hook("printf 'which\\033[31m one?'; exit 2");
    world.run("loud", json!({}));
    assert_eq!(world.settled()["reason"], "needs-human");
    let log = world.read(".claude/logs/superpower.log");
    assert!(!log.contains(['\u{1b}', '\0', '\u{202e}']), "{log:?}");
    assert!(log.contains("^[[2J") && log.contains("<202e>") && log.contains("which^[[31m one?"), "{log:?}");
}

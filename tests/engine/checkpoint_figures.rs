//! Progress of agents that report none while they work, and checkpoints on a full disk.

use crate::disk_faults::Failing;
use crate::world::World;
use serde_json::{Value, json};

fn checkpoint(world: &World, key: &str) -> Value {
    let document: Value =
        serde_json::from_str(&world.read("conductor/tracks/t/metadata.json")).unwrap_or_default();
    document["loop_state"]["checkpoints"][key].clone()
}

fn declare(world: &World, stages: &str) {
    world.declare("track", &format!("inputs:\n  - {{name: track_id, default: t}}\nstages:\n{stages}"));
}

fn figures(checkpoint: &Value, names: [&str; 2]) -> [Value; 2] {
    names.map(|name| checkpoint[name].clone())
}

const TASKS: [&str; 2] = ["tasks_completed", "tasks_total"];

#[test]
fn plan_boxes_are_counted_while_a_command_runs_and_at_its_end() {
    let world = World::new();
    declare(&world, "  - {skill: 'superpowers:executing-plans', inputs: {plan: plan.md}}\n");
    world.write("plan.md", "# Plan\n\n- [ ] first\n- [ ] second\n");
    world.hook(
        "sed -i 's/\\[ \\] first/[x] first/' plan.md; : > one; while [ ! -e go ]; do sleep 0.02; done
sed -i 's/\\[ \\] second/[x] second/' plan.md; echo done",
    );
    world.run("track", json!({}));
    let counted = |_: &Value| {
        let execute = checkpoint(&world, "EXECUTE");
        figures(&execute, TASKS) == [json!(1), json!(2)] && execute["last_task"] == "first"
    };
    world.until("the first box to count", counted);
    assert_eq!(checkpoint(&world, "EXECUTE")["status"], "IN_PROGRESS");
    world.write("go", "");
    assert_eq!(world.settled()["state"], "complete");
    let execute = checkpoint(&world, "EXECUTE");
    assert_eq!(execute["status"], "PASSED");
    assert_eq!(figures(&execute, TASKS), [json!(2), json!(2)], "{execute:#}");
    assert_eq!(figures(&execute["progress"], TASKS), [json!(2), json!(2)], "{execute:#}");
    assert_eq!(execute["last_task"], "second");
}

#[test]
fn boxes_count_for_short_stages_for_issues_and_for_manual_stages() {
    let world = World::new();
    declare(
        &world,
        "  - {agent: loop-executor, inputs: {plan: plan.md}}
  - {agent: loop-fixer, inputs: {failures: failures.md}}
  - {agent: loop-executor, harness: manual, inputs: {plan: more.md}}\n",
    );
    world.write("plan.md", "- [x] before\n- [ ] now\n");
    world.write("failures.md", "- [ ] a\n- [ ] b\n- [ ] c\n");
    world.write("more.md", "- [ ] by hand\n- [ ] not done\n");
    world.hook("for f in plan.md failures.md; do sed -i \"0,/\\[ \\]/s//[x]/\" $f; done; echo done");
    world.run("track", json!({}));
    world.until("a human to be asked", |picture| picture["stages"][2]["mark"] == "by-hand");
    world.until("the fix to be written", |_| checkpoint(&world, "FIX")["status"] == "PASSED");
    let fix = checkpoint(&world, "FIX");
    assert_eq!(figures(&fix, ["issues_fixed", "issues_total"]), [json!(2), json!(3)], "{fix:#}");
    world.write("more.md", "- [x] by hand\n- [ ] not done\n");
    world.ok("submit", json!({ "launch": 3, "message": "I did it" }));
    assert_eq!(world.settled()["state"], "complete");
    let execute = checkpoint(&world, "EXECUTE");
    assert_eq!(figures(&execute, TASKS), [json!(1), json!(2)], "{execute:#}");
    assert_eq!((&execute["last_task"], &execute["status"]), (&json!("by hand"), &json!("PASSED")));
}

#[test]
fn a_short_stage_lists_exactly_what_it_wrote() {
    let world = World::new();
    declare(
        &world,
        "  - {agent: first, expects: {files: ['one.md']}}\n  - {agent: second}\n  - {agent: third}\n",
    );
    world.write("before.md", "there already\n");
    world.hook(
        "case $1 in first) echo 1 > one.md;; second) mkdir -p deep; echo 2 > deep/two.md; echo more >> one.md;;
third) cp -p before.md copied.md; rm one.md;; esac; echo done",
    );
    world.run("track", json!({}));
    assert_eq!(world.settled()["state"], "complete");
    world.until("the last step to be written", |_| checkpoint(&world, "THIRD")["status"] == "PASSED");
    let files = |key: &str| {
        let mut files: Vec<String> =
            serde_json::from_value(checkpoint(&world, key)["output_files"].clone()).unwrap();
        // Files of the test's own script.
        files.retain(|file| !matches!(file.as_str(), ".prompt" | "calls"));
        files.sort();
        files
    };
    assert_eq!(files("FIRST"), ["one.md"]);
    assert_eq!(files("SECOND"), ["deep/two.md", "one.md"]);
    assert_eq!(files("THIRD"), ["copied.md"], "its time is as old as what it was copied from");
}

#[test]
fn the_notes_of_a_failure_have_the_last_output() {
    let world = World::new();
    declare(&world, "  - {agent: a, max_attempts: 1}\n");
    world.hook("echo compiling; echo 'cannot find module \"x\"' >&2; exit 1");
    world.run("track", json!({}));
    assert_eq!(world.settled()["reason"], "failed");
    let notes = "ERROR: exit status 1: cannot find module \"x\"";
    assert_eq!(checkpoint(&world, "A")["notes"], notes);
    // The result from the journal is the same.
    let mut world = world;
    world.restart();
    std::fs::remove_file(world.path("conductor/tracks/t/metadata.json")).unwrap();
    world.hook("sleep 300");
    world.ok("skip", json!({}));
    assert_eq!(world.settled()["state"], "complete");
    assert_eq!(checkpoint(&world, "A")["notes"], notes);
}

/// No checkpoint records an end that the run does not know of.
#[test]
fn on_a_full_disk_no_checkpoint_is_ahead_of_the_journal() {
    for by_hand in [true, false] {
        let world = World::new();
        declare(
            &world,
            &format!(
                "  - {{agent: a, harness: {}}}\n  - {{agent: b}}\n",
                if by_hand { "manual" } else { "command" }
            ),
        );
        world.hook(": > ready; while [ ! -e go ]; do sleep 0.02; done; echo done");
        world.run("track", json!({}));
        world.until("the stage to be in hand", |picture| {
            let begun = by_hand || world.path("ready").exists();
            begun && picture["state"] == "running" && checkpoint(&world, "A")["status"] == "IN_PROGRESS"
        });
        let failing = Failing::with(world.root(), libc::ENOSPC, |op, path| {
            op != superpower::store::disk::Op::Read && path.to_string_lossy().ends_with("journal.jsonl")
        });
        if by_hand {
            world.call("skip", json!({}));
        } else {
            world.write("go", "");
        }
        world.settled();
        assert_eq!(checkpoint(&world, "A")["status"], "IN_PROGRESS", "by hand: {by_hand}");
        drop(failing);
        world.ok("resume", json!({}));
        world.until("it to be in hand again", |picture| {
            picture["current_stage"] != 1 || picture["state"] == "running"
        });
        if by_hand {
            world.ok("skip", json!({}));
            let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
            while checkpoint(&world, "A")["status"] != "BLOCKED" {
                assert!(std::time::Instant::now() < end, "{:#}", checkpoint(&world, "A"));
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            assert_eq!(checkpoint(&world, "A")["notes"], "skipped by hand");
        }
        world.write("go", "");
        assert_eq!(world.settled()["state"], "complete");
    }
}

#[test]
fn file_times_attribute_changes_in_a_large_project() {
    let world = World::new();
    declare(&world, "  - {agent: first}\n  - {agent: second}\n");
    for file in 0..1_100 {
        world.write(&format!("many/{file}"), "x\n");
    }
    world.hook(
        "case $1 in first) echo 1 > one.md; echo x > many/7; sleep 0.1;;
second) sleep 0.1; echo 2 > two.md; echo y > many/8; echo more >> one.md; sleep 0.1;; esac; echo done",
    );
    world.run("track", json!({}));
    assert_eq!(world.settled()["state"], "complete");
    world.until("the files to be found", |_| {
        checkpoint(&world, "SECOND")["output_files"].as_array().is_some_and(|files| files.len() > 2)
    });
    let files = |key: &str| -> Vec<String> {
        let listed = serde_json::from_value(checkpoint(&world, key)["output_files"].clone());
        let mut files: Vec<String> = listed.unwrap();
        files.retain(|file| !matches!(file.as_str(), ".prompt" | "calls"));
        files.sort();
        files
    };
    assert_eq!(files("SECOND"), ["many/8", "one.md", "two.md"]);
    let first = files("FIRST");
    assert!(
        first.iter().all(|file| file == "one.md"),
        "what it wrote as it was before is no change: {first:?}"
    );
}

#[test]
fn the_last_stages_files_are_listed_even_if_the_editor_exits() {
    for _ in 0..3 {
        let world = World::new();
        declare(&world, "  - {agent: first}\n");
        world.hook("echo 1 > one.md; echo done");
        world.run("track", json!({}));
        let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while !world.events().iter().any(|event| event["type"] == "run-finished") {
            assert!(std::time::Instant::now() < end, "it does not end");
            std::thread::yield_now();
        }
        world.call("stop", json!({ "grace_ms": 200 }));
        let first = checkpoint(&world, "FIRST");
        assert_eq!(first["status"], "PASSED", "{first:#}");
        let files = first["output_files"].as_array().unwrap();
        assert!(files.iter().any(|file| file == "one.md"), "{first:#}");
    }
}

//! The driver writes the checkpoints of a run.

use crate::world::World;
use serde_json::{Value, json};

fn metadata(world: &World, path: &str) -> Value {
    serde_json::from_str(&world.read(path)).unwrap_or(Value::Null)
}

#[test]
fn a_run_writes_metadata_in_its_track() {
    let world = World::new();
    world.declare(
        "track",
        "inputs:\n  - {name: track_id}\nstages:
  - {skill: 'superpowers:writing-plans', inputs: {spec: \"it's here\"}}
  - {agent: loop-executor, max_attempts: 1}
  - {agent: ux-researcher}\n  - {agent: ux-researcher}\n",
    );
    world.hook(
        "cat .prompt > \"seen-$SUPERPOWER_STAGE\"; test $1 = loop-executor && exit 1; echo The plan stands.",
    );
    world.run("track", json!({ "track_id": "login" }));
    assert_eq!(world.settled()["reason"], "failed");
    let path = "conductor/tracks/login/metadata.json";
    let state = metadata(&world, path)["loop_state"].clone();
    assert_eq!(state["checkpoints"]["PLAN"]["status"], "PASSED", "{state:#}");
    assert_eq!(state["checkpoints"]["PLAN"]["agent"], "superpowers:writing-plans");
    assert!(state["checkpoints"]["PLAN"]["notes"].as_str().unwrap().contains("The plan stands."));
    assert_eq!(state["checkpoints"]["EXECUTE"]["status"], "FAILED");
    assert_eq!(state["checkpoints"]["EXECUTE"]["notes"], "ERROR: exit status 1");
    let prompt = world.read("seen-1");
    let first = prompt.lines().next().unwrap();
    assert!(first.contains("--spec='it'\\''s here'") && first.contains("--track-id='login'"), "{first}");

    world.hook("echo '## Fine'");
    world.ok("resume", json!({}));
    assert_eq!(world.settled()["state"], "complete");
    let state = metadata(&world, path)["loop_state"].clone();
    for key in ["EXECUTE", "UX_RESEARCHER", "UX_RESEARCHER_2"] {
        assert_eq!(state["checkpoints"][key]["status"], "PASSED", "{state:#}");
    }
    let why = world.ok("why", json!({ "stage": 2 }));
    let line = why["lines"].as_array().unwrap().iter().filter_map(|line| line.as_str());
    let line = line.map(str::trim).find(|line| line.starts_with("checkpoint EXECUTE PASSED")).unwrap();
    assert!(line.contains(" · Fine · ") && line.ends_with(" UTC"), "for people: {line}");
}

#[test]
fn a_fix_too_many_blocks_the_run() {
    let world = World::new();
    world.declare("fix", "inputs:\n  - {name: track_id, default: t}\nstages:\n  - {agent: loop-fixer}\n");
    let document = json!({ "loop_state": { "fix_cycle_count": 4, "max_fix_cycles": 3, "checkpoints": {} } });
    world.write("conductor/tracks/t/metadata.json", &document.to_string());
    world.run("fix", json!({}));
    let picture = world.settled();
    assert_eq!(picture["reason"], "blocked", "{picture:#}");
    assert!(picture["detail"].as_str().unwrap().contains("max_fix_cycles"));
    assert!(world.calls().is_empty());
}

#[test]
fn the_next_editor_writes_what_an_earlier_one_could_not() {
    let mut world = World::new();
    world.declare(
        "two",
        "inputs:\n  - {name: track_id, default: t}\nstages:\n  - {agent: writer}\n  - {gate: human-approval}\n  - {agent: b}\n",
    );
    world.run("two", json!({}));
    world.settled();
    let review = world.ok("review", json!({}));
    let listed = review["files"].to_string();
    assert!(!listed.contains("metadata"), "our own files are nothing to review: {listed}");
    world.restart();
    std::fs::remove_file(world.path("conductor/tracks/t/metadata.json")).unwrap();
    world.ok("decide", json!({ "decision": "approve" }));
    world.settled();
    let state = metadata(&world, "conductor/tracks/t/metadata.json")["loop_state"].clone();
    for key in ["WRITER", "B"] {
        assert_eq!(state["checkpoints"][key]["status"], "PASSED", "{state:#}");
    }
}

#[test]
fn an_interrupted_execute_without_a_session_is_told_its_last_task() {
    let mut world = World::new();
    world.declare(
        "execute",
        "inputs:\n  - {name: track_id, default: t}\nstages:\n  - {agent: loop-executor}\n",
    );
    // The agent writes its own progress, as agents of this family do.
    world.hook(
        "f=conductor/tracks/t/metadata.json; while ! grep -q IN_PROGRESS $f 2>/dev/null; do sleep 0.02; done
sed 's/\"status\": \"IN_PROGRESS\"/\"last_task\": \"Task 3\", &/' $f > $f.new && mv $f.new $f; : > ready; sleep 300",
    );
    world.run("execute", json!({}));
    world.until("the agent to be ready", |_| world.path("ready").exists());
    world.restart();
    world.hook("cat .prompt > seen; echo done");
    world.ok("resume", json!({}));
    assert_eq!(world.settled()["state"], "complete");
    let first = world.read("seen").lines().next().unwrap_or_default().to_owned();
    assert_eq!(first, "--resume-from='Task 3'", "{}", world.read("conductor/tracks/t/metadata.json"));
}

/// After an edit of a paused run's declaration, keys may differ: each stage still writes its own step.
#[test]
fn each_stage_keeps_its_step_after_an_edit() {
    let world = World::new();
    let (moved, gate) = ("  - {name: three, agent: c}\n", "  - {name: g2, gate: human-approval}\n");
    let stages = |end: String| {
        format!(
            "stages:\n  - {{name: one, agent: a}}\n  - {{name: g1, gate: human-approval}}\n  - {{name: two, agent: b}}\n{end}"
        )
    };
    world.declare("edited", &stages(format!("{gate}{moved}")));
    let run_id = world.run("edited", json!({}));
    assert_eq!(world.settled()["gate"]["id"], "2.1");
    world.declare("edited", &stages(format!("{moved}{gate}")));
    world.look();
    world.refused("decide", json!({ "decision": "approve" }), "declaration-changed");
    world.ok("decide", json!({ "decision": "approve", "answer": "new" }));
    assert_eq!(world.settled()["gate"]["id"], "5.1");
    let path = format!(".claude/state/runs/{run_id}/metadata.json");
    let steps = metadata(&world, &path)["loop_state"]["checkpoints"].clone();
    for (key, agent) in [("ONE", "a"), ("TWO", "b"), ("THREE", "c")] {
        assert_eq!(
            (&steps[key]["status"], &steps[key]["agent"]),
            (&json!("PASSED"), &json!(agent)),
            "{steps:#}"
        );
    }
    // After the drive, a picture may come from the journal, which has no checkpoints.
    world.until("all of them to be shown", |picture| {
        picture["checkpoints"].as_array().is_none_or(|rows| rows.len() == 3)
    });
    let complaints: Vec<_> =
        world.events().into_iter().filter(|it| it["type"] == "notice" && it["level"] != "info").collect();
    assert!(complaints.is_empty(), "{complaints:?}");
}

//! Gates: who may decide and when, the effects of a decision, and what the user is shown.

use crate::world::World;
use serde_json::{Value, json};
use std::process::Command;
use superpower::engine::Engine;

const GATED: &str = "inputs:
  - {name: scope, type: enum, enum: [full, part], required: true}
stages:
  - {name: make, agent: maker, description: Make}
  - {name: verify, agent: verifier, description: Verify}
  - {name: look, gate: human-approval, description: Look, rework: make}
  - {agent: shipper, description: Ship}
";

/// A run of `gated` that waits at its gate.
fn at_gate() -> (World, String) {
    let world = World::new();
    world.declare("gated", GATED);
    let run_id = world.run("gated", json!({ "scope": "part" }));
    assert_eq!(world.settled()["gate"]["id"], "3.1");
    (world, run_id)
}

fn journal(world: &World, run_id: &str) -> String {
    world.read(&format!(".claude/state/runs/{run_id}/journal.jsonl"))
}

#[test]
fn rework_completes_no_gate_and_a_new_run_has_its_own() {
    let (world, first) = at_gate();
    world.ok("decide", json!({ "decision": "changes", "comment": "again" }));
    assert_eq!(world.settled()["gate"]["id"], "3.2");
    let second = world.run("gated", json!({ "scope": "full" }));
    let picture = world.settled();
    assert_eq!((&picture["gate"]["id"], &picture["run_id"]), (&json!("3.1"), &json!(second)));
    assert_eq!(world.calls().iter().filter(|name| *name == "shipper").count(), 0);
    let resumed = world.ok("resume", json!({ "which": first }));
    assert_eq!(resumed["run_id"], json!(first));
    assert_eq!(world.settled()["gate"]["id"], "3.2", "the old gate still waits");
}

#[test]
fn a_rejected_gate_stays_rejected_after_resuming() {
    let (mut world, run_id) = at_gate();
    world.ok("decide", json!({ "decision": "reject", "comment": "no", "by": "ann" }));
    world.settled();
    let before = journal(&world, &run_id);
    for which in [json!({}), json!({ "which": "gated" }), json!({ "which": run_id })] {
        let why = world.refused("resume", which, "finished");
        assert!(why.contains("rejected by ann") && why.ends_with("no"), "{why}");
        world.restart();
    }
    assert_eq!(journal(&world, &run_id), before);
    assert_eq!(world.calls(), ["maker", "verifier"]);
}

#[test]
fn stages_between_run_again_before_the_gate_asks_again() {
    let (world, _) = at_gate();
    world.ok("decide", json!({ "decision": "changes", "comment": "again" }));
    world.settled();
    assert_eq!(world.calls(), ["maker", "verifier", "maker", "verifier"]);
}

#[test]
fn only_the_three_decisions_are_accepted() {
    let (world, run_id) = at_gate();
    let before = journal(&world, &run_id);
    for word in ["yes", "Approve", "approved", "ok", "not rejected", "", "rejected"] {
        world.refused("decide", json!({ "decision": word }), "bad-request");
    }
    world.refused("decide", json!({ "comment": "looks good to me" }), "bad-request");
    world.refused("retry", json!({ "comment": "I approve" }), "not-now");
    world.refused("skip", json!({}), "not-now");
    world.refused("submit", json!({ "launch": 2, "message": "approve" }), "nothing-to-submit");
    world.ok("answer", json!({ "id": format!("{run_id}/2/x"), "value": { "answer": "once" } }));
    assert_eq!(journal(&world, &run_id), before);
    assert_eq!(world.status()["gate"]["id"], "3.1");
}

#[test]
fn a_decision_from_another_process_continues_the_run() {
    let (world, _) = at_gate();
    // Another editor, which does not know the run, decides.
    let other = Engine::new();
    let call = |op: &str, fields: Value| -> Value {
        let mut request = fields;
        request["op"] = json!(op);
        serde_json::from_str(&other.call(&request.to_string())).unwrap()
    };
    let config = json!({ "harness": "command", "trust": "always", "state_dir": world.state_dir(), "harnesses": { "command": { "cmd": [world.path("bin/agent"), "{agent}{skill}"] } } });
    call("configure", json!({ "config": config }));
    let answer = call("decide", json!({ "root": world.root(), "decision": "approve" }));
    assert!(answer.get("ok").is_some(), "{answer}");
    assert_eq!(world.settled()["state"], "complete");
    assert_eq!(world.calls(), ["maker", "verifier", "shipper"]);
}

#[test]
fn a_gate_cannot_be_approved_before_it_opens() {
    let world = World::new();
    world.declare("gated", GATED);
    world.hook("echo ready > ready; while [ ! -e go ]; do sleep 0.02; done; echo fine");
    let run_id = world.run("gated", json!({ "scope": "full" }));
    world.until("the agent to be ready", |_| world.path("ready").exists());
    let message = world.refused("decide", json!({ "decision": "approve", "gate": "3.1" }), "running");
    assert!(message.contains("gated is running, at stage 1"), "{message}");
    world.write("go", "");
    assert_eq!(world.settled()["gate"]["id"], "3.1");
    assert!(!journal(&world, &run_id).contains("gate-decided"));
}

#[test]
fn cancel_at_a_gate_starts_nothing() {
    let (world, run_id) = at_gate();
    world.ok("cancel", json!({}));
    let picture = world.settled();
    assert_eq!((&picture["state"], &picture["gate"]), (&json!("cancelled"), &Value::Null));
    world.refused("decide", json!({ "decision": "approve", "run_id": run_id }), "no-gate");
    world.refused("resume", json!({}), "finished");
    assert_eq!(world.squad()["status"], "cancelled");
    assert_eq!(world.calls(), ["maker", "verifier"]);
}

#[test]
fn two_rounds_of_changes_keep_a_required_choice() {
    let (world, _) = at_gate();
    world.hook("grep -q 'scope: part' .prompt || exit 1; echo fine");
    for visit in ["3.2", "3.3"] {
        world.ok("decide", json!({ "decision": "changes", "comment": "again" }));
        assert_eq!(world.settled()["gate"]["id"], visit);
    }
    assert_eq!(world.squad()["inputs"], json!({ "scope": "part" }));
}

#[test]
fn how_it_was_decided_is_kept_and_said() {
    let ours = format!("{} {}", superpower::process::own_name().unwrap(), std::process::id());
    let cases = [
        (json!({ "how": "key" }), "key"),
        (json!({ "how": "command" }), "command"),
        (json!({ "how": "lua" }), "Lua"),
        (json!({}), "Lua"),
        // Even if the caller claims a key: headless, nobody can press one.
        (json!({ "how": "key", "headless": true }), "headless"),
    ];
    for (mut request, word) in cases {
        let (world, run_id) = at_gate();
        if request["headless"].take() == true {
            world.configure(json!({ "headless": true }));
        }
        request.as_object_mut().unwrap().remove("headless");
        request["decision"] = json!("approve");
        request["by"] = json!("ann");
        request["review"] = json!(world.look());
        world.ok("decide", request);
        world.settled();
        let said = format!("ann ({word}, {ours}");
        let line = world.log().into_iter().find(|line| line.contains("APPROVED")).unwrap();
        assert!(line.ends_with(&format!("APPROVED  stage 3/4  ({word}, {ours})")), "{line}");
        let why = world.ok("why", json!({ "run_id": run_id, "stage": 3 }))["lines"].to_string();
        assert!(why.contains(&format!("approved by {said}")), "{why}");
        let events = world.events();
        let told = events.iter().find(|event| event["type"] == "gate-decided").unwrap();
        assert!(told["how"].as_str().unwrap().starts_with(&format!("{word}, {ours}")), "{told}");
        let decided =
            journal(&world, &run_id).lines().find(|line| line.contains("gate-decided")).unwrap().to_owned();
        let kept: Value = serde_json::from_str(&decided).unwrap();
        assert_eq!(kept["how"]["means"], json!(word.to_lowercase()), "{kept}");
        assert_eq!(kept["how"]["process"], json!(std::process::id()));
    }
}

#[test]
fn how_a_run_was_taken_on_or_ended_is_kept_and_said() {
    let ours = format!("{} {}", superpower::process::own_name().unwrap(), std::process::id());
    for (verb, event, line) in [
        ("resume", "resumed", "RESUMED  ship  stage 1/1"),
        ("retry", "retried", "RESUMED  ship  stage 1/1"),
        ("skip", "skipped", "SKIP  stage 1/1: agent maker  (manual)"),
        ("cancel", "cancelled", "CANCELLED  ship"),
    ] {
        let world = World::new();
        world.declare("ship", "stages: [{agent: maker, max_attempts: 1}]\n");
        world.hook("exit 1");
        let run_id = world.run("ship", json!({}));
        assert_eq!(world.settled()["reason"], "failed");
        world.ok(verb, json!({ "how": "command", "by": "ann" }));
        world.settled();
        let log = world.log();
        assert!(log.iter().any(|said| said.ends_with(&format!("{line}  (command, {ours})"))), "{log:?}");
        let journal = journal(&world, &run_id);
        let records = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let kept = records.into_iter().find(|record| record["event"] == event).unwrap();
        assert_eq!(kept["how"]["means"], "command", "{kept}");
        if verb == "cancel" {
            let refused = world.call("resume", json!({ "run_id": run_id })).to_string();
            assert!(refused.contains(&format!("by ann (command, {ours})")), "{refused}");
        }
    }
}

#[test]
fn a_decision_reruns_no_stage() {
    let (mut world, _) = at_gate();
    for _ in 0..3 {
        world.restart();
        world.ok("resume", json!({}));
        assert_eq!(world.settled()["gate"]["id"], "3.1");
    }
    world.ok("decide", json!({ "decision": "approve" }));
    assert_eq!(world.settled()["state"], "complete");
    assert_eq!(world.calls(), ["maker", "verifier", "shipper"]);
}

/// Every state in every view: the snapshot, `squad.json`, the list of runs, and the last event for listeners.
#[test]
fn every_view_shows_the_same_state() {
    let views = |world: &World, state: &str, reason: Option<&str>| {
        let picture = world.settled();
        let squad = world.squad();
        let listed = world.ok("runs", json!({}))[0].clone();
        for (view, field) in [(&picture, "state"), (&squad, "status"), (&listed, "state")] {
            assert_eq!(view[field], state, "{view:#}");
            assert_eq!(view["reason"], json!(reason), "{view:#}");
            assert_eq!(view["current_stage"], picture["current_stage"], "{view:#}");
        }
        let events = world.events();
        let last = events.iter().rfind(|event| event["type"] == "snapshot").unwrap();
        assert_eq!((&last["run"]["state"], &last["run"]["reason"]), (&json!(state), &json!(reason)));
        let word = if reason.is_some() { "run-paused" } else { "run-finished" };
        let told = events.iter().rfind(|event| event["type"] == word).unwrap();
        assert_eq!(told[if reason.is_some() { "reason" } else { "state" }], reason.unwrap_or(state));
    };
    let (world, _) = at_gate();
    views(&world, "paused", Some("gate"));
    world.hook("exit 1");
    world.look();
    world.ok("decide", json!({ "decision": "approve" }));
    views(&world, "paused", Some("failed"));
    world.hook("echo 'which one?'; exit 2");
    world.ok("retry", json!({}));
    views(&world, "paused", Some("needs-human"));
    world.hook("echo no; exit 4");
    world.ok("retry", json!({}));
    views(&world, "paused", Some("blocked"));
    world.ok("skip", json!({}));
    views(&world, "complete", None);
    world.hook("echo ready > ready; while [ ! -e go ]; do sleep 0.02; done; echo fine");
    world.run("gated", json!({ "scope": "full" }));
    world.until("the agent to be ready", |_| world.path("ready").exists());
    assert_eq!(world.squad()["status"], "running");
    assert_eq!(world.ok("runs", json!({}))[0]["state"], "running");
    world.ok("pause", json!({}));
    world.write("go", "");
    views(&world, "paused", Some("user"));
    world.ok("cancel", json!({}));
    views(&world, "cancelled", None);
    world.hook("echo fine");
    world.run("gated", json!({ "scope": "full" }));
    world.settled();
    world.ok("decide", json!({ "decision": "reject" }));
    views(&world, "rejected", None);
}

#[test]
fn the_second_visit_shows_what_changed_since_the_last_approval() {
    let world = World::new();
    world.declare(
        "twice",
        "stages:
  - {agent: one}
  - {gate: human-approval}
  - {agent: two}
  - {gate: human-approval, rework: '3'}
",
    );
    world.write("agent-hook", "");
    world.hook("echo \"$1\" >> $1.md; echo fine");
    world.run("twice", json!({}));
    let seen = |world: &World| {
        world.settled();
        let review = world.ok("review", json!({}));
        let files = review["files"].as_array().unwrap().iter();
        let mut shown: Vec<String> = files
            .filter(|file| file["path"].as_str().unwrap().ends_with(".md"))
            .map(|file| {
                format!(
                    "{}{} +{} -{}",
                    file["status"].as_str().unwrap(),
                    file["path"].as_str().unwrap(),
                    file["added"],
                    file["removed"]
                )
            })
            .collect();
        shown.sort();
        shown
    };
    assert_eq!(seen(&world), ["+one.md +1 -0"]);
    world.ok("decide", json!({ "decision": "approve" }));
    assert_eq!(seen(&world), ["+two.md +1 -0"], "what was approved is not shown again");
    assert_eq!(world.ok("diff", json!({ "path": "one.md" }))["before"], "one\n");
    world.ok("decide", json!({ "decision": "changes", "comment": "more" }));
    assert_eq!(seen(&world), ["+two.md +2 -0"], "changes are no approval");
}

#[test]
fn a_gate_shows_the_report_of_its_work() {
    let world = World::new();
    world.declare(
        "reports",
        "stages:
  - {agent: one}
  - {agent: two, when: never}
  - {gate: human-approval}
  - {agent: three, gate: human-approval}
",
    );
    world.hook("echo \"# Report\"; echo; echo \"- of $1\"");
    world.run("reports", json!({}));
    world.settled();
    let review = world.ok("review", json!({}));
    assert_eq!((&review["from"], &review["message"]), (&json!(1), &json!("# Report\n\n- of one")));
    world.ok("decide", json!({ "decision": "approve" }));
    world.settled();
    let review = world.ok("review", json!({}));
    assert_eq!((&review["from"], &review["message"]), (&json!(4), &json!("# Report\n\n- of three")));
}

#[test]
fn edits_at_a_gate_are_kept_without_asking_an_agent() {
    let world = World::new();
    world.declare("plan", "stages:\n  - {agent: planner}\n  - {gate: human-approval}\n  - {agent: doer}\n");
    world.write("agent-hook", "");
    world.hook(
        "[ $1 = planner ] && echo 'paint it red' > plan.md; [ $1 = doer ] && cp plan.md done.md; echo fine",
    );
    let run_id = world.run("plan", json!({}));
    world.settled();
    let reviewed: Value =
        serde_json::from_str(&world.read(&format!(".claude/state/runs/{run_id}/review-2.1.json"))).unwrap();
    world.write("plan.md", "paint it blue\n");
    world.ok("review", json!({}));
    world.ok("decide", json!({ "decision": "approve" }));
    assert_eq!(world.settled()["state"], "complete");
    assert_eq!(world.read("done.md"), "paint it blue\n");
    assert_eq!(world.calls(), ["planner", "doer"]);
    let original = Command::new("git")
        .arg("--git-dir")
        .arg(world.reviews())
        .args(["show", &format!("{}:plan.md", reviewed["after"].as_str().unwrap())])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&original.stdout), "paint it red\n", "the original is kept");
}

#[test]
fn a_key_that_looks_like_a_gate_starts_nothing() {
    let world = World::new();
    for key in ["approval: human", "human_gate: true", "gates: [human-approval]", "gate: human_approval"] {
        world.declare("looks", &format!("stages:\n  - agent: a\n    {key}\n"));
        let message = world.refused("run", json!({ "name": "looks" }), "invalid-declaration");
        assert!(message.contains("gate"), "{message}");
    }
    assert!(!world.path(".claude/state").exists());
}

/// `skip` skips the action; the stage's own gate still asks, and says so.
#[test]
fn the_gate_of_a_skipped_action_still_asks_and_says_so() {
    let world = World::new();
    world.declare(
        "both",
        "stages:\n  - {agent: one}\n  - {agent: two, gate: human-approval, max_attempts: 1, description: Two}\n",
    );
    world.hook("[ $1 = one ] || exit 1; echo fine");
    world.run("both", json!({}));
    assert_eq!(world.settled()["reason"], "failed");
    world.ok("skip", json!({}));
    let picture = world.settled();
    assert_eq!((&picture["gate"]["id"], &picture["stages"][1]["mark"]), (&json!("2.1"), &json!("gate")));
    assert_eq!(picture["stages"][1]["note"], "waits for you; skipped manually");
    let gate = "GATE   Human approval required: Two  (its action was skipped manually)";
    assert!(world.log().contains(&gate.to_owned()), "{:?}", world.log());
    assert_eq!(world.ok("review", json!({}))["message"], "The action of this stage was skipped manually.");
    // Requested changes go back to its own action, although that was skipped.
    world.hook("echo better");
    world.ok("decide", json!({ "decision": "changes", "comment": "do it after all" }));
    let picture = world.settled();
    assert_eq!(
        (&picture["gate"]["id"], &picture["stages"][1]["note"]),
        (&json!("2.2"), &json!("waits for you"))
    );
    assert_eq!(world.calls(), ["one", "two", "two"]);
    world.ok("decide", json!({ "decision": "approve" }));
    assert!(world.settled()["summary"].as_str().unwrap().ends_with("2 ran, 1 approval"));
}

//! The table of pause reasons and verbs, tested through the engine.

use crate::world::World;
use serde_json::json;
use std::time::Duration;

const ONE: &str =
    "stages:\n  - {agent: writer, description: Write}\n  - {agent: printer, description: Print}\n";
const GATED: &str = "stages:
  - {agent: writer, description: Write}
  - {agent: checker, description: Check}
  - {gate: human-approval, description: Look, rework: '1'}
  - {agent: printer, description: Print}
";

fn paused(world: &World, reason: &str) {
    let picture = world.settled();
    assert_eq!((&picture["state"], &picture["reason"]), (&json!("paused"), &json!(reason)), "{picture:#}");
}

#[test]
fn a_stage_that_fails_three_times_pauses_the_run_and_each_prompt_differs() {
    let world = World::new();
    world.declare("one", ONE);
    world.hook("cp .prompt prompt-$SUPERPOWER_ATTEMPT; echo \"broken pipe $SUPERPOWER_ATTEMPT\" >&2; echo writing; exit 1");
    world.run("one", json!({}));
    paused(&world, "failed");
    assert_eq!(world.calls(), ["writer", "writer", "writer"]);
    let log = world.log();
    assert!(log.contains(&"RETRY  stage 1/2: attempt 2/3: exit status 1".into()), "{log:?}");
    assert!(log.contains(&"FAILED  stage 1/2: Write: attempt 3/3: exit status 1".into()), "{log:?}");
    assert!(log.contains(&"PAUSED (failed) — resume with: :Superpower resume one".into()), "{log:?}");
    // The log line's form is fixed; messages for people add the last output to a bare exit status.
    let shown = "exit status 1: broken pipe 3";
    let picture = world.status();
    assert_eq!((&picture["detail"], &picture["stages"][0]["note"]), (&json!(shown), &json!(shown)));
    let summary = format!("stage 1/2 failed 3 times: {shown}. :Superpower retry, skip or cancel");
    assert_eq!(picture["summary"], json!(summary));
    let why = world.ok("why", json!({ "stage": 1 }));
    assert!(why["lines"].as_array().unwrap().contains(&json!(format!("  failed: {shown}"))), "{why:#}");
    let (first, second, third) = (world.read("prompt-1"), world.read("prompt-2"), world.read("prompt-3"));
    assert!(second.contains("exit status 1") && second.contains("broken pipe 1"), "{second}");
    assert!(first != second && second != third && third.contains("broken pipe 2"));

    world.hook("echo fine");
    world.ok("resume", json!({}));
    assert_eq!(world.settled()["state"], "complete");
    assert_eq!(world.calls().len(), 5);
}

#[test]
fn a_failed_stage_can_be_skipped_or_retried_with_a_comment() {
    let world = World::new();
    world.declare("one", &ONE.replace("Write}", "Write, max_attempts: 1}"));
    world.hook("test $1 = printer || exit 1; echo fine");
    world.run("one", json!({}));
    paused(&world, "failed");
    world.ok("retry", json!({ "comment": "use the other pen" }));
    paused(&world, "failed");
    assert!(world.read(".prompt").contains("use the other pen"));
    world.ok("skip", json!({}));
    let picture = world.settled();
    assert_eq!(picture["state"], "complete");
    assert_eq!(picture["stages"][0]["mark"], "skipped");
}

#[test]
fn a_stage_that_asks_or_is_blocked_pauses_at_once() {
    let world = World::new();
    world.declare("one", ONE);
    world.hook("echo 'which database?'; exit 2");
    world.run("one", json!({}));
    paused(&world, "needs-human");
    assert_eq!(world.calls(), ["writer"], "no attempt is spent on asking again");
    assert_eq!(world.status()["summary"], "stage 1/2 asks: which database? :Superpower retry ANSWER");
    world.hook("grep -q 'the big one' .prompt && grep -q 'You asked: which database?' .prompt && echo fine || exit 4");
    world.ok("retry", json!({ "comment": "the big one" }));
    let picture = world.settled();
    assert_eq!(picture["reason"], "blocked", "the comment is the first stage's alone: {picture:#}");
    assert_eq!(picture["current_stage"], 2);
    world.ok("cancel", json!({}));
    assert_eq!(world.settled()["state"], "cancelled");
    let why = world.refused("resume", json!({}), "finished");
    assert!(why.contains("cancelled"), "{why}");
}

#[test]
fn a_manual_stage_says_that_it_waits_for_the_user_and_can_be_skipped() {
    let world = World::new();
    let body = "stages:\n  - {agent: writer, name: plan, harness: manual}\n  - {agent: asker, gate: human-approval, harness: manual}\n  - {agent: printer}\n";
    world.declare("one", body);
    let run_id = world.run("one", json!({}));
    let in_hand = |stage: usize| {
        world.until("a stage in somebody's hands", |picture| picture["stages"][stage]["mark"] == "by-hand")
    };
    let picture = in_hand(0);
    assert_eq!(picture["stages"][0]["note"], "manual, waits for you");
    world.refused("retry", json!({}), "running");
    world.ok("skip", json!({}));
    let picture = in_hand(1);
    assert_eq!(picture["stages"][0]["mark"], "skipped");
    world.ok("skip", json!({}));
    paused(&world, "gate");
    world.ok("decide", json!({ "decision": "approve" }));
    assert_eq!(world.settled()["state"], "complete");
    let kept = world.read(&format!(".claude/state/runs/{run_id}/metadata.json"));
    let kept: serde_json::Value = serde_json::from_str(&kept).unwrap();
    assert_eq!(kept["loop_state"]["checkpoints"]["PLAN"]["status"], "BLOCKED", "{kept:#}");
    assert_eq!(world.calls(), ["printer"], "an agent is not skipped while it works");
}

#[test]
fn a_retry_names_its_run() {
    let world = World::new();
    world.declare("one", ONE);
    world.hook("echo 'which database?'; exit 2");
    let first = world.run("one", json!({}));
    paused(&world, "needs-human");
    world.run("one", json!({}));
    paused(&world, "needs-human");
    world.hook("echo fine");
    world.ok("retry", json!({ "run_id": first, "comment": "the big one" }));
    let picture = world.settled();
    assert_eq!((&picture["run_id"], &picture["state"]), (&json!(first), &json!("complete")));
}

#[test]
fn a_listed_run_says_what_it_is_about() {
    let world = World::new();
    let inputs = "inputs:\n  - {name: scope, default: full}\n  - {name: goal, required: true}\n";
    world.declare("one", &format!("{inputs}{ONE}"));
    world.run("one", json!({ "goal": "search that\nforgives typos" }));
    world.settled();
    assert_eq!(world.ok("runs", json!({}))[0]["about"], "search that forgives typos");
    world.declare("two", &format!("inputs:\n  - {{name: note}}\n  - {{name: scope, default: full}}\n{ONE}"));
    world.run("two", json!({ "note": " " }));
    world.settled();
    assert_eq!(world.ok("runs", json!({}))[0]["about"], "full");
}

#[test]
fn request_changes_goes_back_to_rework_and_repeats_the_stages_between() {
    let world = World::new();
    world.declare("gated", GATED);
    world.run("gated", json!({}));
    paused(&world, "gate");
    world.refused("decide", json!({ "decision": "changes" }), "comment-missing");
    let message = world.refused("decide", json!({ "decision": "aprove" }), "bad-request");
    assert!(message.contains("unknown decision \"aprove\" (did you mean \"approve\"?)"), "{message}");
    world.hook("cat .prompt > seen-$1; echo again");
    world.ok("decide", json!({ "decision": "changes", "comment": "shorter" }));
    paused(&world, "gate");
    assert_eq!(world.calls(), ["writer", "checker", "writer", "checker"]);
    assert!(world.read("seen-writer").contains("shorter"));
    assert!(!world.read("seen-checker").contains("shorter"));
    assert_eq!(world.status()["gate"]["id"], "3.2");
    let stale = world.refused("decide", json!({ "decision": "approve", "gate": "3.1" }), "stale-gate");
    assert!(stale.contains("3.2"), "{stale}");
    world.ok("decide", json!({ "decision": "approve", "gate": "3.2" }));
    assert_eq!(world.settled()["state"], "complete");
    world.refused("decide", json!({ "decision": "approve" }), "no-gate");
}

#[test]
fn reject_ends_the_run_for_good() {
    let mut world = World::new();
    world.declare("gated", GATED);
    world.run("gated", json!({}));
    paused(&world, "gate");
    world.ok("decide", json!({ "decision": "reject", "comment": "not like this", "by": "ann" }));
    assert_eq!(world.settled()["state"], "rejected");
    for _ in 0..2 {
        let why = world.refused("resume", json!({}), "finished");
        assert!(why.contains("ann") && why.contains("not like this"), "{why}");
        world.refused("decide", json!({ "decision": "approve" }), "no-gate");
        world.refused("retry", json!({}), "finished");
        world.refused("skip", json!({}), "finished");
        world.restart();
    }
    assert_eq!(world.calls(), ["writer", "checker"]);
    assert_eq!(world.squad()["status"], "rejected");
    assert_eq!(world.squad()["current_stage"], 3);
}

#[test]
fn cancel_stops_the_agent_and_all_its_processes() {
    let world = World::new();
    world.declare("one", ONE);
    world.hook("sleep 300 & echo $! > child; setsid sleep 301 & echo $! >> child; echo ready > ready; wait");
    world.run("one", json!({}));
    world.until("the agent to be ready", |_| world.path("ready").exists());
    let children: Vec<i32> = world.read("child").lines().map(|pid| pid.parse().unwrap()).collect();
    world.ok("cancel", json!({}));
    let picture = world.settled();
    assert_eq!(picture["state"], "cancelled");
    for pid in children {
        // SAFETY: signal 0 only checks whether the process exists.
        let there = unsafe { libc::kill(pid, 0) } == 0;
        assert!(!there || zombie(pid), "process {pid} is left");
    }
}

fn zombie(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z "))
}

#[test]
fn pause_takes_effect_after_the_stage() {
    let world = World::new();
    world.declare("one", ONE);
    world.hook("echo ready > ready; while [ ! -e go ]; do sleep 0.02; done; echo fine");
    world.run("one", json!({}));
    world.until("the agent to be ready", |_| world.path("ready").exists());
    world.ok("pause", json!({}));
    world.until("the pause to be due", |picture| picture["pausing"] == true);
    world.write("go", "");
    paused(&world, "user");
    assert_eq!(world.calls(), ["writer"]);
    assert_eq!(world.status()["current_stage"], 2);
    world.ok("resume", json!({}));
    assert_eq!(world.settled()["state"], "complete");
    assert_eq!(world.calls(), ["writer", "printer"]);
}

#[test]
fn exiting_the_editor_interrupts_and_another_editor_continues() {
    let mut world = World::new();
    world.declare("one", ONE);
    world.hook("echo ready > ready; sleep 300");
    world.run("one", json!({}));
    world.until("the agent to be ready", |_| world.path("ready").exists());
    world.restart();
    assert_eq!(world.squad()["status"], "paused");
    assert_eq!(world.squad()["reason"], "interrupted");
    world.refused("retry", json!({}), "not-now");
    world.refused("decide", json!({ "decision": "approve" }), "no-gate");
    world.hook("cat .prompt > seen; echo fine");
    world.ok("resume", json!({ "which": "one" }));
    assert_eq!(world.settled()["state"], "complete");
    assert_eq!(world.calls(), ["writer", "writer", "printer"]);
}

#[test]
fn a_second_editor_is_told_which_one_drives() {
    let world = World::new();
    world.declare("one", ONE);
    world.hook("echo ready > ready; sleep 300");
    world.run("one", json!({}));
    world.until("the agent to be ready", |_| world.path("ready").exists());
    let other = superpower::engine::Engine::new();
    let config = json!({ "op": "configure", "config": { "state_dir": world.state_dir() } });
    other.call(&config.to_string());
    let answer = |op: &str| -> serde_json::Value {
        let request = json!({ "op": op, "root": world.root() });
        serde_json::from_str(&other.call(&request.to_string())).unwrap()
    };
    for op in ["resume", "cancel", "pause", "retry", "skip"] {
        let answer = answer(op);
        assert_eq!(answer["err"]["code"], "driven-elsewhere", "{op}: {answer}");
        let message = answer["err"]["message"].as_str().unwrap();
        assert!(message.contains(&std::process::id().to_string()) && message.contains("one"), "{message}");
    }
    assert_eq!(answer("status")["ok"]["state"], "running");
    let (_, running) = (Duration::ZERO, world.refused("run", json!({ "name": "one" }), "running"));
    assert!(running.contains("one"), "{running}");
}

#[test]
fn a_run_with_nothing_to_do_says_so() {
    let world = World::new();
    world.declare("none", "stages:\n  - {agent: a, when: never}\n  - {gate: human-approval, when: never}\n");
    world.run("none", json!({}));
    let picture = world.settled();
    assert_eq!(picture["state"], "complete");
    assert!(picture["summary"].as_str().unwrap().contains("nothing ran"), "{picture:#}");
    assert_eq!(world.squad()["current_stage"], 2);
    let why = world.refused("resume", json!({}), "finished");
    assert!(why.contains("complete"), "{why}");
}

#[test]
fn invalid_requests_are_refused_before_anything_starts() {
    let world = World::new();
    world.declare("two", "inputs:\n  - {name: epic, required: true}\n  - {name: scope, type: enum, enum: [a, b], default: a}\nstages:\n  - {agent: a}\n");
    world.declare("broken", "stages:\n  - {gate: human_approval}\n");
    let message = world.refused("run", json!({ "name": "twoo" }), "unknown-superpower");
    assert!(message.contains("two") && message.contains("broken"), "{message}");
    let message = world.refused("run", json!({ "name": "broken" }), "invalid-declaration");
    assert!(
        message.contains("broken.yaml:5:12: stages[1].gate: unknown gate \"human_approval\""),
        "{message}"
    );
    world.refused("run", json!({ "name": "two" }), "missing-inputs");
    let message = world.refused("run", json!({ "name": "two", "inputs": { "epik": "x" } }), "unknown-input");
    assert!(message.contains("did you mean \"epic\""), "{message}");
    let bad = json!({ "name": "two", "inputs": { "epic": "x", "scope": "c" } });
    let message = world.refused("run", bad, "invalid-input");
    assert!(message.contains("expected a or b"), "{message}");
    world.refused(
        "run",
        json!({ "name": "two", "inputs": { "epic": "x" }, "harness": "clod" }),
        "no-harness",
    );
    world.refused("resume", json!({}), "nothing-to-resume");
    assert!(!world.path(".claude/state").exists(), "nothing was started, and no trace is left");
}

#[test]
fn trust_is_asked_for_again_after_a_change() {
    let world = World::new();
    world.configure(json!({ "trust": "ask" }));
    world.declare("one", ONE);
    world.write(".claude/agents/writer.md", "---\nname: writer\n---\nWrite.\n");
    let answer = world.call("run", json!({ "name": "one" }));
    assert_eq!(answer["err"]["code"], "untrusted");
    let digest = answer["err"]["data"]["digest"].clone();
    world.ok("trust-grant", json!({ "name": "one", "digest": digest }));
    world.run("one", json!({}));
    assert_eq!(world.settled()["state"], "complete");
    world.write(".claude/agents/writer.md", "---\nname: writer\n---\nWrite evil.\n");
    world.refused("run", json!({ "name": "one" }), "untrusted");
}

//! The editor's main loop waits for no lock, journal or git: slow operations are asked for, and an event brings the
//! answer.

use crate::alone::{alone, until_no_thread_is};
use crate::world::World;
use serde_json::{Value, json};
use std::fs::File;
use std::time::{Duration, Instant};

const GATED: &str = "stages:\n  - {agent: a}\n  - {gate: human-approval}\n  - {agent: b}\n";

impl World {
    /// Asks; the call must return within a frame, allowing for a busy machine.
    fn ask(&self, id: u64, op: &str, mut fields: Value) {
        fields["op"] = json!(op);
        fields["root"] = json!(self.root());
        let begun = Instant::now();
        let answer = self.engine.call(&json!({ "op": "ask", "id": id, "request": fields }).to_string());
        assert!(
            begun.elapsed() < Duration::from_millis(250),
            "{op} held the main loop: {:?}",
            begun.elapsed()
        );
        assert_eq!(answer, json!({ "ok": {} }).to_string());
    }

    /// The answers in the order of arrival, and all other events.
    fn heard(&self, answers: usize) -> Vec<Value> {
        let (end, mut heard) = (Instant::now() + Duration::from_secs(20), Vec::new());
        while heard.iter().filter(|event: &&Value| event["type"] == "answered").count() < answers {
            assert!(Instant::now() < end, "no answer: {heard:#?}");
            heard.extend(self.events());
            std::thread::sleep(Duration::from_millis(5));
        }
        heard
    }

    /// Blocks git in the project, as a slow disk or a large tree does.
    fn busy_git(&self) -> File {
        let file = File::create(self.reviews().join("snapshot.lock")).unwrap();
        file.lock().unwrap();
        file
    }
}

fn answered(heard: &[Value]) -> Vec<&Value> {
    heard.iter().filter(|event| event["type"] == "answered").collect()
}

#[test]
fn requests_are_answered_in_order_and_before_events_of_the_run() {
    let world = World::new();
    world.declare("gated", GATED);
    world.ask(1, "run", json!({ "name": "nobody" }));
    world.ask(2, "run", json!({ "name": "gated" }));
    let heard = world.heard(2);
    let answers = answered(&heard);
    assert_eq!(answers[0]["id"], 1);
    assert_eq!(answers[0]["answer"]["err"]["code"], "unknown-superpower");
    assert_eq!(answers[1]["id"], 2);
    assert!(answers[1]["answer"]["ok"]["run_id"].is_string(), "{heard:#?}");
    let place = |kind: &str| heard.iter().rposition(|event| event["type"] == kind);
    assert!(place("run-started").is_none_or(|at| at > place("answered").unwrap()), "{heard:#?}");
    assert_eq!(world.settled()["reason"], "gate");
}

#[test]
fn ask_refuses_operations_that_must_be_called() {
    let world = World::new();
    for request in [json!({ "op": "stop" }), json!({ "op": "ask", "id": 1, "request": {} })] {
        let answer = world.engine.call(&json!({ "op": "ask", "id": 1, "request": request }).to_string());
        assert!(answer.contains("bad-request"), "{answer}");
    }
    world.ask(3, "nonsense", json!({}));
    assert_eq!(answered(&world.heard(1))[0]["answer"]["err"]["code"], "unknown-op");
}

/// git may take long to list a gate's files, but only the gate waits for it.
#[test]
fn a_file_comparison_does_not_delay_verbs() {
    for verb in ["pause", "cancel"] {
        let world = World::new();
        world.declare("gated", GATED);
        world.hook("touch ready; while [ ! -e go ]; do sleep 0.02; done; echo fine");
        world.run("gated", json!({}));
        world.until("the agent to work", |_| world.path("ready").exists());
        let git = world.busy_git();
        world.write("go", "");
        world.until("the gate", |picture| picture["reason"] == "gate");
        world.ask(1, verb, json!({}));
        let heard = world.heard(1);
        let answer = &answered(&heard)[0]["answer"];
        assert!(heard.iter().all(|event| event["type"] != "gate-opened"), "it has no list yet: {heard:#?}");
        if verb == "cancel" {
            assert!(answer["ok"].is_object(), "{heard:#?}");
            assert_eq!(world.settled()["state"], "cancelled", "nobody waits for git any more");
            assert!(world.events().iter().all(|event| event["type"] != "gate-opened"));
            drop(git);
        } else {
            assert_eq!(answer["err"]["code"], "not-now", "it is paused already: {heard:#?}");
            drop(git);
            assert_eq!(world.settled()["gate"]["id"], "2.1");
            assert!(world.events().iter().any(|event| event["type"] == "gate-opened"));
        }
        assert_eq!(world.calls(), ["a"]);
    }
}

#[test]
fn a_skip_and_a_cancel_while_git_is_busy_end_the_run() {
    let world = World::new();
    world.declare("hand", "stages:\n  - {agent: a, harness: manual}\n  - {gate: human-approval}\n");
    world.run("hand", json!({}));
    world.until("a human to be asked", |picture| picture["stages"][0]["mark"] == "by-hand");
    let _git = world.busy_git();
    world.ask(1, "skip", json!({}));
    world.ask(2, "cancel", json!({}));
    for answer in answered(&world.heard(2)) {
        assert!(answer["answer"]["ok"].is_object(), "{answer:#}");
    }
    assert_eq!(world.settled()["state"], "cancelled");
    world.declare("other", "stages:\n  - {agent: b}\n");
    world.run("other", json!({}));
}

#[test]
fn a_result_without_a_waiting_stage_is_refused() {
    let world = World::new();
    world.declare("hand", "stages:\n  - {agent: a, harness: manual}\n  - {agent: b, harness: manual}\n");
    world.run("hand", json!({}));
    let by_hand = |stage: usize| move |picture: &Value| picture["stages"][stage]["mark"] == "by-hand";
    world.until("a human to be asked", by_hand(0));
    world.refused("submit", json!({ "launch": 7, "message": "for another" }), "nothing-to-submit");
    world.ok("submit", json!({ "launch": 1, "message": "done" }));
    world.until("the next stage", by_hand(1));
    world.refused("submit", json!({ "launch": 1, "message": "once more" }), "nothing-to-submit");
    world.ok("submit", json!({ "launch": 2, "message": "done too" }));
    assert_eq!(world.settled()["state"], "complete");
}

#[test]
fn a_verb_sent_while_a_drive_ends_is_not_lost() {
    let world = World::new();
    world.declare("gated", GATED);
    world.hook("echo fine");
    for _ in 0..20 {
        world.run("gated", json!({}));
        world.until("the gate", |picture| picture["gate"]["id"] == "2.1");
        // The gate has just opened, and the drive is about to end.
        world.ok("cancel", json!({}));
        assert_eq!(world.settled()["state"], "cancelled");
        assert_eq!(world.squad()["status"], "cancelled");
    }
}

#[test]
fn no_queued_request_starts_a_run_after_the_editor_exits() {
    // Waits for the worker thread.
    alone("asks::no_queued_request_starts_a_run_after_the_editor_exits", &[], the_editor_is_left);
}

fn the_editor_is_left() {
    let mut world = World::new();
    world.declare("gated", GATED);
    world.run("gated", json!({}));
    assert_eq!(world.settled()["reason"], "gate");
    world.restart();
    // The first request waits for git until the exit cancels it.
    let _git = world.busy_git();
    world.ask(0, "review", json!({}));
    for id in 1..20 {
        world.ask(id, "run", json!({ "name": "gated" }));
    }
    world.call("stop", json!({ "grace_ms": 100 }));
    until_no_thread_is("superpower-worker");
    let events = world.events();
    let answers = answered(&events);
    assert!(answers.iter().all(|event| event["id"] == 0), "{answers:#?}");
    assert_eq!(std::fs::read_dir(world.path(".claude/state/runs")).unwrap().count(), 1);
    assert!(superpower::store::lease::holder(&world.root()).is_none());
}

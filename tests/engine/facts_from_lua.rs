//! Facts and prompts from Lua functions. A fact is asked once a run. The engine's wait for both is limited.

use crate::world::World;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const ASKING: &str =
    "stages:\n  - {agent: a, when: 'story.has_api'}\n  - {agent: b, when: '!story.has_api'}\n";

fn asked(world: &World, kind: &str) -> Value {
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        if let Some(event) = world.events().into_iter().find(|event| event["type"] == kind) {
            return event;
        }
        assert!(Instant::now() < end, "it was not asked");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_registered_fact_is_asked_once_and_remembered() {
    let world = World::new();
    world.refused("run", json!({ "name": "asking" }), "unknown-superpower");
    world.declare("asking", ASKING);
    world.refused("run", json!({ "name": "asking" }), "invalid-declaration");
    world.configure(json!({ "conditions": ["story.has_api"] }));
    world.run("asking", json!({}));
    let event = asked(&world, "ask-fact");
    assert_eq!(event["name"], "story.has_api");
    assert_eq!(event["ctx"]["stage"], 1);
    world.ok("answer", json!({ "id": event["id"], "value": { "value": true, "reason": "api.md is there" } }));
    let picture = world.settled();
    assert_eq!(picture["state"], "complete");
    assert_eq!(world.calls(), ["a"]);
    assert_eq!(picture["facts"][0]["reason"], "api.md is there");
    assert!(world.events().iter().all(|event| event["type"] != "ask-fact"), "it was asked twice");
    assert!(
        world.log().iter().any(|line| line.ends_with("(when=!story.has_api → false)")),
        "{:?}",
        world.log()
    );
}

#[test]
fn a_fact_that_is_not_a_boolean_is_not_false() {
    for value in [json!(null), json!({}), json!({ "value": 0 }), json!({ "value": "yes" }), json!(true)] {
        let world = World::new();
        world.declare("asking", ASKING);
        world.configure(json!({ "conditions": ["story.has_api"] }));
        world.run("asking", json!({}));
        world.ok("answer", json!({ "id": asked(&world, "ask-fact")["id"], "value": value }));
        let picture = world.settled();
        assert_eq!(picture["reason"], "interrupted", "{value}");
        assert_eq!(picture["facts"], json!([]), "{value}");
        assert!(world.calls().is_empty());
    }
}

#[test]
fn a_fact_that_fails_pauses_the_run_and_resume_asks_again() {
    let world = World::new();
    world.declare("asking", ASKING);
    world.configure(json!({ "conditions": ["story.has_api"] }));
    world.run("asking", json!({}));
    let event = asked(&world, "ask-fact");
    world.ok("answer", json!({ "id": event["id"], "error": "attempt to index a nil value" }));
    let picture = world.settled();
    assert_eq!(picture["reason"], "interrupted");
    assert!(picture["detail"].as_str().unwrap().contains("attempt to index a nil value"), "{picture:#}");
    world.ok("resume", json!({}));
    let event = asked(&world, "ask-fact");
    world.ok("answer", json!({ "id": event["id"], "value": { "value": false } }));
    assert_eq!(world.settled()["state"], "complete");
    assert_eq!(world.calls(), ["b"]);
}

#[test]
fn a_prompt_function_replaces_the_prompt() {
    let world = World::new();
    world.declare("one", "stages:\n  - {agent: a, description: Do it}\n");
    world.configure(json!({ "prompt": true }));
    world.run("one", json!({}));
    let event = asked(&world, "ask-prompt");
    assert!(event["prompt"].as_str().unwrap().contains("Do it"), "{event}");
    assert_eq!((&event["ctx"]["actor"], &event["ctx"]["attempt"]), (&json!("a"), &json!(1)));
    assert!(world.calls().is_empty(), "nothing starts before the answer");
    world.ok("answer", json!({ "id": event["id"], "error": "no such table" }));
    let picture = world.settled();
    assert_eq!(picture["reason"], "interrupted");
    assert!(picture["detail"].as_str().unwrap().contains("no such table"), "{picture:#}");
    world.ok("resume", json!({}));
    let event = asked(&world, "ask-prompt");
    world.ok("answer", json!({ "id": event["id"], "value": { "prompt": "Dance." } }));
    assert_eq!(world.settled()["state"], "complete");
    assert_eq!(world.read(".prompt"), "Dance.");
    // Cancelled while Lua computes: its answer arrives too late.
    world.run("one", json!({}));
    let event = asked(&world, "ask-prompt");
    world.ok("cancel", json!({}));
    world.ok("answer", json!({ "id": event["id"], "value": { "prompt": "Sing." } }));
    assert_eq!(world.settled()["state"], "cancelled");
    assert_eq!(world.calls(), ["a"]);
}

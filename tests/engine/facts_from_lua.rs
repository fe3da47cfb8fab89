//! Facts that Lua provides: asked once, remembered, and never waited for without an end.

use crate::world::World;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const ASKING: &str =
    "stages:\n  - {agent: a, when: 'story.has_api'}\n  - {agent: b, when: '!story.has_api'}\n";

fn asked(world: &World) -> Value {
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        if let Some(event) = world.events().into_iter().find(|event| event["type"] == "ask-fact") {
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
    let event = asked(&world);
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
fn a_fact_that_fails_pauses_the_run_and_resume_asks_again() {
    let world = World::new();
    world.declare("asking", ASKING);
    world.configure(json!({ "conditions": ["story.has_api"] }));
    world.run("asking", json!({}));
    let event = asked(&world);
    world.ok("answer", json!({ "id": event["id"], "error": "attempt to index a nil value" }));
    let picture = world.settled();
    assert_eq!(picture["reason"], "interrupted");
    assert!(picture["detail"].as_str().unwrap().contains("attempt to index a nil value"), "{picture:#}");
    world.ok("resume", json!({}));
    let event = asked(&world);
    world.ok("answer", json!({ "id": event["id"], "value": { "value": false } }));
    assert_eq!(world.settled()["state"], "complete");
    assert_eq!(world.calls(), ["b"]);
}

//! The table of operations: each once, with its lane.

use crate::world::World;
use serde_json::json;
use std::collections::BTreeSet;
use superpower::engine::{Lane, lanes};

#[test]
fn the_schema_has_the_lane_of_every_operation() {
    let schema = World::new().ok("schema", json!({}));
    let names: Vec<&str> =
        schema["operations"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    assert_eq!(names, lanes().map(|(name, _)| name).collect::<Vec<_>>());
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "each once");
    for name in &names {
        let lane = &schema["lanes"][name];
        assert!(lane == "main" || lane == "worker", "{name}: {lane}");
    }
    assert_eq!(schema["lanes"].as_object().unwrap().len(), names.len());
}

#[test]
fn slow_operations_are_on_the_worker_lane() {
    let main: BTreeSet<&str> =
        lanes().filter(|(_, lane)| *lane == Lane::Main).map(|(name, _)| name).collect();
    let quick = [
        "answer",
        "ask",
        "assist",
        "call-user",
        "configure",
        "document",
        "document-closed",
        "document-part",
        "give-up-look",
        "project",
        "project-renew",
        "scaffold",
        "schema",
        "stop",
    ];
    // `make bench` measures these. Add a measurement for a new one.
    assert_eq!(main, quick.into());
}

#[test]
fn operations_of_the_worker_lane_can_be_asked_and_called() {
    let world = World::new();
    world.declare("one", "stages:\n  - {agent: a}\n");
    for (name, _) in lanes().filter(|(_, lane)| *lane == Lane::Worker) {
        let called = world.call(name, json!({}));
        assert_ne!(called["err"]["code"], "unknown-op", "{name}: {called}");
        let request = json!({ "op": "ask", "id": 7, "request": { "op": name, "root": world.root() } });
        assert_eq!(world.engine.call(&request.to_string()), json!({ "ok": {} }).to_string());
        let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
        loop {
            let heard = world.events();
            if let Some(answer) = heard.iter().find(|event| event["type"] == "answered") {
                assert_ne!(answer["answer"]["err"]["code"], "unknown-op", "{name}: {answer}");
                break;
            }
            assert!(std::time::Instant::now() < end, "{name} was not answered");
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }
}

//! The main case: run, gate, resume.

use crate::world::World;
use serde_json::json;
use superpower::process::own_name;

const TWO: &str = "
inputs:
  - {name: epic, required: true}
stages:
  - {agent: writer, description: 'Write about {{epic}}'}
  - {gate: human-approval, description: Await approval}
  - {agent: printer, description: Print}
";

#[test]
fn a_run_stops_at_its_gate_and_continues_when_approved() {
    let world = World::new();
    world.declare("two", TWO);
    let run_id = world.run("two", json!({ "epic": "rain" }));
    let picture = world.settled();
    assert_eq!(picture["state"], "paused", "{picture:#}");
    assert_eq!(picture["reason"], "gate");
    assert_eq!(picture["gate"]["id"], "2.1");
    let squad = world.squad();
    assert_eq!(squad["active_superpower"], "two");
    assert_eq!(squad["current_stage"], 2);
    assert_eq!(squad["status"], "paused");
    assert_eq!(squad["inputs"], json!({ "epic": "rain" }));
    assert_eq!(squad["run_id"], json!(run_id));
    assert_eq!(world.calls(), ["writer"]);

    assert!(world.decide("approve", "good").get("ok").is_some());
    let picture = world.settled();
    assert_eq!(picture["state"], "complete", "{picture:#}");
    assert_eq!(world.calls(), ["writer", "printer"]);
    let approved =
        format!("APPROVED  stage 2/3: good  (Lua, {} {})", own_name().unwrap(), std::process::id());
    assert_eq!(
        world.log(),
        [
            "LOADED  two  v1.0.0  stages=3",
            "STAGE 1/3: Write about rain",
            "DISPATCH  agent=writer",
            "STAGE 2/3: Await approval",
            "GATE   Human approval required: Await approval",
            "PAUSED — resume with: :Superpower resume two",
            &*approved,
            "RESUMED  two  stage 3/3",
            "STAGE 3/3: Print",
            "DISPATCH  agent=printer",
            "COMPLETE  two",
        ]
    );
    assert!(world.read(".prompt").contains("writer reports"), "{}", world.read(".prompt"));
    assert!(world.read(".prompt").contains("good"), "the gate's comment is given to later stages");
}

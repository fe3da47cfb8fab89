//! Another tool's `squad.json`: what it claims is shown, what it lacks is asked for, what is too much is kept.

use crate::trust_driven::agree;
use crate::world::World;
use serde_json::{Value, json};

const FEATURE: &str = "inputs:
  - {name: epic, required: true}
  - {name: feature_slug, required: true}
  - {name: scope, type: enum, enum: [full, tokens-only], required: true}
stages:
  - {agent: a, description: A}
  - {gate: human-approval, description: G}
  - {agent: b, description: B}
  - {agent: c, description: 'C {{scope}}'}
";

fn squad(stage: Value) -> Value {
    json!({
        "active_superpower": "feature", "current_stage": stage, "status": "paused",
        "inputs": { "epic": "user-auth", "feature_slug": "reset-password" },
    })
}

fn world(trust: &str, squad: &Value) -> World {
    let world = World::new();
    world.configure(json!({ "trust": trust }));
    world.declare("feature", FEATURE);
    world.write(".claude/state/squad.json", &squad.to_string());
    world
}

fn said(world: &World) -> String {
    let notices = world.events().into_iter().filter(|event| event["type"] == "notice");
    notices.map(|event| event["message"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_it_lacks_is_asked_for_and_what_it_has_stays() {
    let file = squad(json!(4));
    let world = world("always", &file);
    let answer = world.call("resume", json!({}));
    assert_eq!(answer["err"]["code"], "missing-inputs", "{answer}");
    let data = &answer["err"]["data"];
    assert_eq!((&data["name"], &data["inputs"][0]["name"]), (&json!("feature"), &json!("scope")));
    assert_eq!(data["given"], file["inputs"]);
    assert!(answer["err"]["message"].as_str().unwrap().contains("resume KEY=VALUE"), "{answer}");
    assert_eq!(world.squad(), file, "giving up leaves it as it is");
    world.refused("resume", json!({ "inputs": { "scope": "some" } }), "invalid-input");
    world.refused("resume", json!({ "inputs": { "scope": "full", "colour": "red" } }), "unknown-input");
    world.refused("decide", json!({ "decision": "approve" }), "missing-inputs");
    world.ok("resume", json!({ "inputs": { "scope": "full", "epic": "other" } }));
    assert_eq!(world.settled()["state"], "complete");
    assert_eq!(world.calls(), ["c"]);
    assert_eq!(
        world.squad()["inputs"],
        json!({ "epic": "user-auth", "feature_slug": "reset-password", "scope": "full" })
    );
    let said = said(&world);
    assert!(said.contains("the input \"epic\" of feature stays \"user-auth\""), "{said}");
    assert!(said.contains("stages 1–3 count as run, gate 2 as passed: so says squad.json"), "{said}");
}

#[test]
fn what_nobody_declares_is_kept_and_said() {
    let mut file = squad(json!(3));
    file["inputs"]["scope"] = json!("full");
    file["inputs"]["mood"] = json!("good");
    let world = world("always", &file);
    world.ok("resume", json!({ "which": "feature" }));
    assert_eq!(world.settled()["state"], "complete");
    assert_eq!(world.squad()["inputs"], file["inputs"]);
    assert!(said(&world).contains("feature does not declare \"mood\""));
}

#[test]
fn a_value_that_the_input_does_not_take_is_asked_for() {
    let mut file = squad(json!(3));
    file["inputs"]["scope"] = json!("half");
    let world = world("always", &file);
    world.refused("resume", json!({}), "missing-inputs");
    world.ok("resume", json!({ "inputs": { "scope": "full" } }));
    assert_eq!(world.settled()["state"], "complete");
}

#[test]
fn the_sheet_comes_with_the_claim_also_where_the_superpower_is_trusted() {
    let mut file = squad(json!(4));
    file["inputs"]["scope"] = json!("full");
    let world = world("ask", &file);
    let claim = "stages 1–3 count as run, gate 2 as passed: so says squad.json";
    // Its word alone is not enough where the superpower was never agreed to.
    let asked = world.call("resume", json!({ "answer": "adopt" }));
    assert_eq!(asked["err"]["data"]["sheet"]["claim"], claim, "{asked}");
    agree(&world, &asked);
    let asked = world.call("resume", json!({}));
    assert_eq!(
        (&asked["err"]["code"], &asked["err"]["data"]["answer"]),
        (&json!("untrusted"), &json!("adopt"))
    );
    let message = asked["err"]["message"].as_str().unwrap();
    assert!(message.contains(claim) && message.contains("answer=adopt"), "{message}");
    assert_eq!(world.squad(), file);
    world.ok("resume", json!({ "answer": "adopt" }));
    assert_eq!(world.settled()["state"], "complete");
    assert_eq!(world.calls(), ["c"]);
}

#[test]
fn one_that_makes_way_for_another_run_is_shown_when_it_is_driven() {
    let mut file = squad(json!(3));
    file["inputs"]["scope"] = json!("full");
    let world = world("ask", &file);
    world.declare("other", "stages:\n  - {agent: x}\n");
    agree(&world, &world.call("run", json!({ "name": "other" })));
    world.run("other", json!({}));
    world.settled();
    let asked = world.call("resume", json!({ "which": "feature" }));
    assert_eq!(
        asked["err"]["data"]["sheet"]["claim"],
        "stages 1–2 count as run, gate 2 as passed: so says squad.json",
        "{asked}"
    );
    agree(&world, &asked);
    world.refused("resume", json!({ "which": "feature" }), "untrusted");
    world.ok("resume", json!({ "which": "feature", "answer": "adopt" }));
    assert_eq!(world.settled()["state"], "complete");
    assert_eq!(world.calls(), ["x", "b", "c"]);
}

#[test]
fn the_claim_names_what_counts() {
    let mut file = squad(json!(0));
    file["inputs"]["scope"] = json!("full");
    for (stage, claim) in [
        (json!(0), "no stage counts as run: so says squad.json"),
        (json!(null), "no stage counts as run: so says squad.json"),
        (json!(2), "stage 1 counts as run: so says squad.json"),
        (json!(3), "stages 1–2 count as run, gate 2 as passed: so says squad.json"),
    ] {
        file["current_stage"] = stage;
        let world = world("ask", &file);
        assert_eq!(world.call("resume", json!({}))["err"]["data"]["sheet"]["claim"], claim);
        world.ok("cancel", json!({}));
        assert_eq!(world.settled()["state"], "cancelled", "what drives nothing asks nothing");
    }
}

#[test]
fn a_known_input_of_a_run_of_ours_is_not_changed_either() {
    let world = World::new();
    world.declare("feature", FEATURE);
    world.run("feature", json!({ "epic": "a", "feature_slug": "b", "scope": "full" }));
    world.settled();
    world.refused("resume", json!({ "inputs": { "nothing": "x" } }), "unknown-input");
    world.ok("resume", json!({ "inputs": { "epic": "other" } }));
    assert_eq!(world.settled()["gate"]["id"], "2.1");
    assert_eq!(world.squad()["inputs"]["epic"], "a");
    assert!(said(&world).contains("the input \"epic\" of feature stays \"a\""));
}

//! Another tool's `squad.json`: its claim is shown, missing inputs are asked for, undeclared ones are kept.

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
fn missing_inputs_are_asked_for_and_given_ones_stay() {
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
fn undeclared_inputs_are_kept_with_a_notice() {
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
fn an_invalid_input_is_asked_for() {
    let mut file = squad(json!(3));
    file["inputs"]["scope"] = json!("half");
    let world = world("always", &file);
    world.refused("resume", json!({}), "missing-inputs");
    world.ok("resume", json!({ "inputs": { "scope": "full" } }));
    assert_eq!(world.settled()["state"], "complete");
}

#[test]
fn the_sheet_shows_the_claim_even_if_the_superpower_is_trusted() {
    let mut file = squad(json!(4));
    file["inputs"]["scope"] = json!("full");
    let world = world("ask", &file);
    let claim = "stages 1–3 count as run, gate 2 as passed: so says squad.json";
    // `adopt` alone is not enough if the superpower was never agreed to.
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
fn a_run_saved_for_another_one_shows_its_claim_when_it_is_driven() {
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
fn the_claim_lists_the_stages_that_count_as_run() {
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
fn resume_does_not_change_an_input_of_our_run() {
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

#[test]
fn a_null_input_counts_as_missing() {
    let mut file = squad(json!(4));
    file["inputs"]["scope"] = json!("full");
    file["inputs"]["epic"] = json!(null);
    let world = world("always", &file);
    let answer = world.call("resume", json!({}));
    assert_eq!(answer["err"]["code"], "missing-inputs", "{answer}");
    assert_eq!(answer["err"]["data"]["inputs"][0]["name"], "epic");
    world.ok("resume", json!({ "inputs": { "epic": "mine" } }));
    assert_eq!(world.settled()["state"], "complete");
    assert_eq!(world.squad()["inputs"]["epic"], "mine");
}

#[test]
fn a_list_or_object_as_input_is_reported_and_asked_for() {
    for (value, what) in [(json!(["a", "b"]), "a list"), (json!({ "a": 1 }), "an object")] {
        let mut file = squad(json!(4));
        file["inputs"]["scope"] = json!("full");
        file["inputs"]["epic"] = value.clone();
        file["inputs"]["theirs"] = value.clone();
        let world = world("always", &file);
        world.refused("resume", json!({}), "missing-inputs");
        let named = format!(
            "\"inputs.epic\" in \"squad.json\" is {what}, which is not valid for any input and counts as missing"
        );
        assert!(said(&world).contains(&named));
        assert_eq!(world.squad(), file, "it stays as it is");
        world.ok("resume", json!({ "inputs": { "epic": "mine" } }));
        assert_eq!(world.settled()["state"], "complete");
        assert_eq!(world.squad()["inputs"]["theirs"], value, "what nobody declares is kept in its form");
    }
}

#[test]
fn an_invalid_optional_input_is_reported_and_kept() {
    let mut file = squad(json!(2));
    file["active_superpower"] = json!("loose");
    file["inputs"] = json!({ "mode": "odd", "list": [1], "count": 2.50, "sure": true, "none": null });
    let world = world("always", &file);
    world.declare(
        "loose",
        "inputs:\n  - {name: mode, type: enum, enum: [a, b], default: a}\n  - {name: list}\n  - {name: count}\n  - {name: sure, type: bool}\nstages:\n  - {agent: a}\n  - {agent: 'b', prompt: '{{mode}} {{list}} {{count}} {{sure}}'}\n",
    );
    world.ok("resume", json!({}));
    assert_eq!(world.settled()["state"], "complete");
    let said = said(&world);
    assert!(
        said.contains("\"inputs.mode\" in \"squad.json\" is \"odd\", which the input does not accept"),
        "{said}"
    );
    assert!(said.contains("\"inputs.list\" in \"squad.json\" is a list"), "{said}");
    assert!(!said.contains("inputs.count") && !said.contains("inputs.none"), "{said}");
    let text = world.read(".claude/state/squad.json");
    for kept in ["\"list\": [", "\"count\": 2.5", "\"sure\": true", "\"none\": null"] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
}

#[test]
fn a_stage_and_a_status_are_read_leniently() {
    for stage in [json!(4), json!(4.0), json!("4"), json!(" 4.0 ")] {
        let mut file = squad(stage.clone());
        file["inputs"]["scope"] = json!("full");
        let world = world("always", &file);
        world.ok("resume", json!({}));
        assert_eq!(world.settled()["state"], "complete", "{stage}");
        assert_eq!(world.calls(), ["c"], "{stage}");
    }
    for status in ["complete ", " Done\n", "\u{a0}completed", "complete\u{200b}"] {
        let mut file = squad(json!(4));
        file["status"] = json!(status);
        let world = world("always", &file);
        world.refused("resume", json!({}), "finished");
    }
}

#[test]
fn an_unusable_field_is_reported_and_the_file_stays() {
    for (key, value, said) in [
        ("status", json!(["complete"]), "\"status\" is [\"complete\"], not a word"),
        ("status", json!(true), "\"status\" is true, not a word"),
        ("status", json!(1), "\"status\" is 1, not a word"),
        ("status", json!({ "is": "done" }), "\"status\" is {\"is\":\"done\"}, not a word"),
        ("current_stage", json!(2.5), "\"current_stage\" is 2.5, not the number of a stage"),
        ("current_stage", json!(-1), "\"current_stage\" is -1, not the number of a stage"),
        ("current_stage", json!("two"), "\"current_stage\" is \"two\", not the number of a stage"),
        ("current_stage", json!([2]), "\"current_stage\" is [2], not the number of a stage"),
        (
            "active_superpower",
            json!(["feature"]),
            "\"active_superpower\" is [\"feature\"], not the name of a superpower",
        ),
        ("run_id", json!(["a"]), "\"run_id\" is [\"a\"], not the id of a run"),
        ("run_id", json!(false), "\"run_id\" is false, not the id of a run"),
    ] {
        let mut file = squad(json!(4));
        file[key] = value;
        let world = world("always", &file);
        let message = world.refused("resume", json!({}), "unreadable-squad");
        assert!(message.contains(said), "{message}");
        let message = world.refused("resume", json!({ "which": "feature" }), "unreadable-squad");
        assert!(message.contains(said), "{message}");
        assert_eq!(world.squad(), file, "it is left");
    }
}

/// A run id may be a number; there is no such run here, and the message says so.
#[test]
fn a_run_id_may_be_a_number() {
    let mut file = squad(json!(4));
    file["run_id"] = json!(7);
    let world = world("always", &file);
    let answer = world.call("resume", json!({}));
    let message = answer["err"]["message"].as_str().unwrap();
    assert!(message.contains("\"7\"") || message.contains("run 7"), "{answer}");
}

/// Values that other tools keep in the file are preserved.
#[test]
fn the_fields_of_other_tools_keep_their_text() {
    let world = World::new();
    world.declare("feature", FEATURE);
    let kept = [
        r#""size": 1e3"#,
        r#""half": "\ud83d""#,
        r#""$serde_json::private::Number": "5""#,
        "\"mark\": \"\u{f8ff}number 5\"",
        r#""count": 2e0"#,
    ];
    let [size, half, reader, mark, count] = kept;
    world.write(
        ".claude/state/squad.json",
        &format!(
            "{{\"active_superpower\": \"feature\", \"current_stage\": 4e0, \"status\": \"paused\", \"inputs\": {{\"epic\": \"a\", \"feature_slug\": \"b\", \"scope\": \"full\", {count}}}, {size}, {half}, \"in\": {{{reader}}}, {mark}}}"
        ),
    );
    world.ok("resume", json!({}));
    assert_eq!(world.settled()["state"], "complete");
    assert_eq!(world.calls(), ["c"]);
    let now = world.read(".claude/state/squad.json");
    assert!(kept.iter().all(|kept| now.contains(kept)), "{now}");
}

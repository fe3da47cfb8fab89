//! A verb that names a run acts on that run, even if another one is the project's current run.

use crate::world::World;
use serde_json::{Value, json};

const ONE: &str = "stages:\n  - {agent: writer, description: Write, max_attempts: 1}\n  - {agent: printer, description: Print}\n";
const GATED: &str =
    "stages:\n  - {agent: writer, description: Write}\n  - {gate: human-approval, description: Look}\n";

/// Starts two runs, both of which pause.
fn two(world: &World, body: &str) -> (String, String) {
    world.declare("one", body);
    let first = world.run("one", json!({}));
    world.settled();
    let second = world.run("one", json!({}));
    world.settled();
    (first, second)
}

/// How a run ended, or why it is paused.
fn of(world: &World, run_id: &str) -> Value {
    let runs = world.ok("runs", json!({}));
    let run = runs.as_array().unwrap().iter().find(|run| run["run_id"] == run_id).unwrap().clone();
    if run["state"] == "paused" { run["reason"].clone() } else { run["state"].clone() }
}

#[test]
fn each_verb_acts_on_the_named_run() {
    let failing = || {
        let world = World::new();
        world.hook("exit 1");
        let runs = two(&world, ONE);
        world.hook("echo fine");
        (world, runs)
    };
    for (verb, state) in
        [("retry", "complete"), ("skip", "complete"), ("resume", "complete"), ("cancel", "cancelled")]
    {
        let (world, (first, second)) = failing();
        assert_eq!(world.ok(verb, json!({ "run_id": first }))["run_id"], json!(first), "{verb}");
        assert_eq!(world.settled()["run_id"], json!(first), "{verb}");
        assert_eq!((of(&world, &first), of(&world, &second)), (json!(state), json!("failed")), "{verb}");
    }
    let (world, (first, _)) = failing();
    let message = world.refused("pause", json!({ "run_id": first }), "not-now");
    assert!(message.contains("paused"), "{message}");
    assert_eq!(world.ok("why", json!({ "run_id": first }))["stage"], 1);
}

#[test]
fn a_unique_start_of_an_id_is_enough() {
    let world = World::new();
    let (first, second) = two(&world, GATED);
    let differs = first.bytes().zip(second.bytes()).position(|(one, other)| one != other).unwrap();
    let message = world.refused("cancel", json!({ "run_id": first[..differs] }), "ambiguous-run");
    assert!(message.contains(&first) && message.contains(&second), "{message}");
    let start = &first[..=differs];
    assert_eq!(world.ok("status", json!({ "run_id": start }))["run_id"], json!(first));
    world.ok("review", json!({ "run_id": start }));
    world.ok("decide", json!({ "decision": "approve", "run_id": start }));
    world.settled();
    assert_eq!((of(&world, &first), of(&world, &second)), (json!("complete"), json!("gate")));
}

#[test]
fn every_verb_refuses_an_unknown_id() {
    let world = World::new();
    two(&world, GATED);
    for verb in ["resume", "retry", "skip", "pause", "cancel", "status", "review", "why"] {
        let message = world.refused(verb, json!({ "run_id": "0000" }), "unknown-run");
        assert_eq!(message, "unknown run \"0000\"; see :Superpower runs", "{verb}");
    }
    world.refused("decide", json!({ "decision": "approve", "run_id": "0000" }), "unknown-run");
    world.refused("resume", json!({ "which": "one", "run_id": "0000" }), "bad-request");
}

#[test]
fn a_verb_for_another_run_does_not_reach_the_active_one() {
    let world = World::new();
    let (first, _) = two(&world, GATED);
    world.hook("while [ ! -e on ]; do sleep 0.02; done; echo done");
    let third = world.run("one", json!({}));
    for verb in ["pause", "cancel", "skip"] {
        world.refused(verb, json!({ "run_id": first }), "running");
    }
    assert_eq!(world.ok("cancel", json!({ "run_id": third }))["run_id"], json!(third));
    world.settled();
    assert_eq!((of(&world, &third), of(&world, &first)), (json!("cancelled"), json!("gate")));
}

#[test]
fn a_headless_verb_lists_the_runs_if_several_are_possible() {
    let world = World::new();
    let (first, second) = two(&world, GATED);
    for (verb, fields) in
        [("decide", json!({ "decision": "approve" })), ("resume", json!({})), ("cancel", json!({}))]
    {
        let mut fields = fields;
        fields["only"] = json!(true);
        let message = world.refused(verb, fields, "several-runs");
        assert!(message.starts_with("2 runs are possible; name one as the first word:\n  run="), "{message}");
        assert!(
            message.contains(&format!("run={first}")) && message.contains(&format!("run={second}")),
            "{message}"
        );
    }
    // No run can be retried, so the current one says why it cannot.
    world.refused("retry", json!({ "only": true }), "not-now");
    world.ok("decide", json!({ "decision": "reject", "run_id": first, "only": true }));
    world.settled();
    world.ok("resume", json!({ "run_id": second, "only": true }));
    world.settled();
    world.ok("decide", json!({ "decision": "approve", "only": true }));
    world.settled();
    assert_eq!((of(&world, &first), of(&world, &second)), (json!("rejected"), json!("complete")));
}

#[test]
fn an_unreadable_or_foreign_run_can_be_cancelled_by_its_id() {
    let world = World::new();
    let (first, second) = two(&world, GATED);
    world.write(&format!(".claude/state/runs/{first}/journal.jsonl"), "not a journal\n");
    let answer = world.ok("cancel", json!({ "run_id": first }));
    assert_eq!((&answer["run_id"], &answer["state"]), (&json!(first), &json!("cancelled")));
    assert_eq!(of(&world, &second), json!("gate"));
}

#[test]
fn the_log_of_a_run_has_only_its_own_lines() {
    let world = World::new();
    world.declare("one", GATED);
    world.run("one", json!({}));
    world.settled();
    let said = world.log();
    let (first, _) = (world.status()["run_id"].as_str().unwrap().to_owned(), two(&world, GATED));
    let lines = world.ok("log", json!({ "run_id": first }))["lines"].clone();
    let lines: Vec<String> = serde_json::from_value(lines).unwrap();
    assert!(!said.is_empty() && lines.iter().all(|line| line.starts_with("[superpower] ")), "{lines:?}");
    let lines: Vec<&str> = lines.iter().map(|line| &line["[superpower] ".len()..]).collect();
    assert_eq!(lines, said);
    world.refused("log", json!({ "run_id": "0000" }), "unknown-run");
}

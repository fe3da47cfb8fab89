//! Every verb that drives a run asks for trust in the files that it will use.

use crate::world::World;
use serde_json::{Value, json};
use std::fs;

const SHIP: &str = "stages:
  - {agent: worker, name: build}
  - {gate: human-approval, name: look}
  - {agent: worker, name: more}
  - {gate: human-approval, name: before-deploy}
  - {agent: deployer, name: deploy}
";

fn agent(world: &World, name: &str, text: &str) {
    world.write(&format!(".claude/agents/{name}.md"), &format!("---\nname: {name}\n---\n{text}\n"));
}

/// A world that asks for trust, with two agents.
pub fn asking(stages: &str) -> World {
    let world = World::new();
    world.configure(json!({ "trust": "ask" }));
    world.declare("ship", stages);
    agent(&world, "worker", "Work.");
    agent(&world, "deployer", "Deploy.");
    world
}

/// Agrees to what a verb was refused for.
pub fn agree(world: &World, answer: &Value) {
    let err = &answer["err"];
    assert_eq!(err["code"], "untrusted", "{answer}");
    world.ok("trust-grant", json!({ "name": err["data"]["name"], "digest": err["data"]["digest"] }));
}

/// A run that the user agreed to.
pub fn start(world: &World) -> Value {
    agree(world, &world.call("run", json!({ "name": "ship" })));
    world.run("ship", json!({}));
    world.settled()
}

fn kept(world: &World) -> String {
    let run_id = world.squad()["run_id"].as_str().unwrap().to_owned();
    format!(".claude/state/runs/{run_id}/declaration-1.yaml")
}

#[test]
fn a_run_without_its_file_continues_if_its_copy_is_trusted() {
    let world = asking(SHIP);
    start(&world);
    fs::remove_file(world.path(".claude/superpowers/ship.yaml")).unwrap();
    world.look();
    world.ok("decide", json!({ "decision": "approve" }));
    assert_eq!(world.settled()["gate"]["id"], "4.1");
}

#[test]
fn every_driving_verb_asks_about_the_copy_if_the_file_is_missing() {
    let ways: [(&str, &str, Value); 4] = [
        ("sleep 300", "resume", json!({})),
        ("exit 1", "resume", json!({})),
        ("exit 1", "retry", json!({})),
        ("exit 1", "skip", json!({})),
    ];
    for (hook, verb, fields) in ways {
        let world = asking("stages:\n  - {agent: worker, max_attempts: 1}\n  - {agent: worker}\n");
        world.hook(hook);
        agree(&world, &world.call("run", json!({ "name": "ship" })));
        world.run("ship", json!({}));
        if hook == "exit 1" {
            assert_eq!(world.settled()["reason"], "failed");
        } else {
            world.until("the agent to work", |_| !world.calls().is_empty());
            world.ok("pause", json!({}));
            world.call("stop", json!({ "grace_ms": 100 }));
        }
        let called = world.calls().len();
        fs::remove_file(world.path(".claude/superpowers/ship.yaml")).unwrap();
        agent(&world, "worker", "Work for me.");
        let message = world.refused(verb, fields.clone(), "untrusted");
        assert!(message.contains(".claude/agents/worker.md (changed)"), "{message}");
        assert!(message.contains("answer=trust"), "{message}");
        assert_eq!(world.calls().len(), called, "{verb}: nothing was started");
        // Cancelling drives nothing.
        world.ok("cancel", json!({}));
    }
}

#[test]
fn the_saved_copy_is_checked_if_it_will_be_driven() {
    let world = asking(SHIP);
    start(&world);
    let evil =
        world.read(&kept(&world)).replace("gate: human-approval, name: before-deploy", "gate: auto, name: g");
    world.write(&kept(&world), &evil);
    // The file is gone.
    let file = world.read(".claude/superpowers/ship.yaml");
    fs::remove_file(world.path(".claude/superpowers/ship.yaml")).unwrap();
    let refused = |answer: Value| {
        let code = answer["err"]["code"].as_str().unwrap_or_default().to_owned();
        assert!(!code.is_empty() && world.calls().len() == 1, "{answer}");
        code
    };
    refused(world.decide("approve", ""));
    // The file exists and has an error.
    world.write(".claude/superpowers/ship.yaml", &file.replace("human-approval", "human_approval"));
    refused(world.call("decide", json!({ "decision": "approve", "answer": "old" })));
    // The file exists, is valid and is trusted.
    world.write(".claude/superpowers/ship.yaml", &file);
    refused(world.call("decide", json!({ "decision": "approve", "answer": "old" })));
}

#[test]
fn a_gate_shows_changes_first_and_approval_covers_them() {
    let world = asking(SHIP);
    world.hook("[ \"$1\" = worker ] && printf 'evil\\n' >> .claude/agents/deployer.md; echo '{}' > .mcp.json; echo done");
    world.write(".mcp.json", "{}\n");
    start(&world);
    let review = world.ok("review", json!({}));
    assert_eq!(
        review["trust"]["files"],
        json!([{ "path": ".claude/agents/deployer.md", "change": "changed" }]),
        "{review:#}"
    );
    assert!(
        world.log().iter().any(|line| line.starts_with("TRUST ") && line.contains("deployer.md (changed)")),
        "{:?}",
        world.log()
    );
    // Without having seen the changes, approval is refused, and the message lists the answer.
    let message = world.refused("decide", json!({ "decision": "approve" }), "untrusted");
    assert!(message.contains("deployer.md (changed)") && message.contains("answer=trust"), "{message}");
    // A digest of something else does not count.
    world.refused("decide", json!({ "decision": "approve", "trust": "0" }), "untrusted");
    world.ok("decide", json!({ "decision": "approve", "trust": review["trust"]["digest"] }));
    // Stage 3 appends again: gate 4 shows the new state, and a headless approval needs its own answer.
    let picture = world.settled();
    assert_eq!(picture["gate"]["id"], "4.1", "{picture:#}");
    assert_eq!(world.ok("review", json!({}))["trust"]["files"][0]["path"], ".claude/agents/deployer.md");
    world.ok("decide", json!({ "decision": "approve", "answer": "trust" }));
    assert_eq!(world.settled()["state"], "complete");
    assert!(world.log().iter().any(|line| line == "TRUSTED  .claude/agents/deployer.md (changed)"));
    assert_eq!(world.calls(), ["worker", "worker", "deployer"]);
}

#[test]
fn rejecting_does_not_ask_and_changes_do() {
    let world = asking(SHIP);
    start(&world);
    agent(&world, "worker", "Work for me.");
    world.ok("resume", json!({}));
    assert_eq!(world.settled()["gate"]["id"], "2.1");
    world.refused("decide", json!({ "decision": "changes", "comment": "more" }), "untrusted");
    world.ok("decide", json!({ "decision": "reject" }));
    assert_eq!(world.settled()["state"], "rejected");
}

#[test]
fn a_decision_does_not_trust_what_was_never_trusted() {
    let world = asking(SHIP);
    world.configure(json!({ "trust": "always" }));
    world.run("ship", json!({}));
    world.settled();
    world.configure(json!({ "trust": "ask" }));
    let message = world.refused("decide", json!({ "decision": "approve", "answer": "trust" }), "untrusted");
    assert!(message.contains("is not trusted yet"), "{message}");
    assert_eq!(world.calls().len(), 1);
}

#[test]
fn inputs_do_not_affect_trust_and_another_harness_does() {
    let world =
        asking("inputs:\n  - {name: goal}\nstages:\n  - {agent: worker, description: 'Do {{goal}}'}\n");
    agree(&world, &world.call("run", json!({ "name": "ship", "inputs": { "goal": "a" } })));
    world.run("ship", json!({ "goal": "b" }));
    world.settled();
    world.write(".gemini/settings.json", "{}");
    world.refused("run", json!({ "name": "ship", "inputs": {} }), "untrusted");
    world.configure(json!({ "trust": "ask", "harness": "manual" }));
    world.ok("run", json!({ "name": "ship", "inputs": {} }));
}

#[test]
fn an_unknown_answer_lists_the_known_ones() {
    let world = asking(SHIP);
    start(&world);
    let message =
        world.refused("decide", json!({ "decision": "approve", "answer": "trusst" }), "bad-request");
    assert!(
        message.contains(
            "unknown answer \"trusst\" (did you mean \"trust\"?); expected old, new, go-on, look-again, adopt, trust or repair"
        ),
        "{message}"
    );
}

/// An answer is saved only if a stage can start: without its harness nothing starts, and the next attempt asks again.
#[test]
fn a_refused_verb_saves_no_answer() {
    let world = asking(SHIP);
    start(&world);
    agent(&world, "deployer", "Deploy twice.");
    let decide = |fields: Value| {
        let mut all = json!({ "decision": "approve" });
        fields.as_object().unwrap().iter().for_each(|(key, value)| all[key] = value.clone());
        all
    };
    world.look();
    let gone = world.path("gone/agent");
    world.configure(json!({ "trust": "ask", "harnesses": { "command": { "cmd": [gone, "{agent}"] } } }));
    world.refused("decide", decide(json!({ "answer": "trust" })), "no-harness");
    world.configure(json!({ "trust": "ask" }));
    world.refused("decide", decide(json!({})), "untrusted");
    world.ok("decide", decide(json!({ "answer": "trust" })));
    assert_eq!(world.settled()["gate"]["id"], "4.1");
}

/// A gate's window refreshes often and reads only files that have changed.
#[cfg(target_os = "linux")]
#[test]
fn showing_a_gate_again_reads_what_has_changed() {
    const LARGE: u64 = 8 << 20;
    // Only of this thread, which handles the request.
    let read = || {
        let counts = fs::read_to_string("/proc/thread-self/io").unwrap();
        counts.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap().parse::<u64>().unwrap()
    };
    let world = asking("stages:\n  - {skill: heavy}\n  - {gate: human-approval}\n");
    world.write(".claude/skills/heavy/SKILL.md", "Lift.\n");
    let large = world.path(".claude/skills/heavy/large.bin");
    let write = |len: u64| fs::File::create(&large).unwrap().set_len(len).unwrap();
    write(LARGE);
    start(&world);
    let look = || {
        let before = read();
        let trust = world.ok("review", json!({}))["trust"].clone();
        (read() - before > LARGE, trust["files"].as_array().map_or(0, Vec::len))
    };
    assert_eq!(look(), (true, 0));
    // A file that was just written is read each time.
    let end = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while look() != (false, 0) {
        assert!(std::time::Instant::now() < end, "read each time");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    write(LARGE + 1);
    assert_eq!(look(), (true, 1));
}

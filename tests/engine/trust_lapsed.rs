//! A stage that changes trusted files pauses the run before they are used.

use crate::trust_driven::{agree, asking, start};
use serde_json::json;
use std::fs;

const TWO: &str = "stages:
  - {agent: worker, description: Build}
  - {agent: deployer, description: Deploy}
";

#[test]
fn a_changed_next_stage_pauses_the_run() {
    let changes = [
        ("echo evil >> .claude/agents/deployer.md", ".claude/agents/deployer.md (changed)"),
        ("echo '{}' > .claude/settings.json", ".claude/settings.json (added)"),
        ("mkdir -p .opencode/plugin; echo x > .opencode/plugin/x.ts", ".opencode/plugin/x.ts (added)"),
        ("rm .claude/agents/deployer.md", ".claude/agents/deployer.md (removed)"),
    ];
    for (script, change) in changes {
        let world = asking(TWO);
        world.hook(&format!("[ \"$1\" = worker ] && {{ {script}; }}; echo done"));
        let picture = start(&world);
        assert_eq!(
            (&picture["state"], &picture["reason"]),
            (&json!("paused"), &json!("trust")),
            "{picture:#}"
        );
        assert_eq!(picture["current_stage"], 2);
        assert_eq!(picture["stages"][1]["attempt"], 1, "no attempt is spent");
        assert!(picture["detail"].as_str().unwrap().contains(change), "{picture:#}");
        assert_eq!(world.calls(), ["worker"]);
        assert!(!world.log().iter().any(|line| line == "DISPATCH  agent=deployer"), "{:?}", world.log());
        assert_eq!(world.log().last().unwrap(), "PAUSED (trust) — resume with: :Superpower resume ship");
        assert_eq!(world.squad()["reason"], "trust");
        // Verbs that do not help are refused; resume asks, and continues after a yes.
        world.refused("skip", json!({}), "not-now");
        world.refused("retry", json!({}), "not-now");
        let asked = world.call("resume", json!({}));
        assert!(asked["err"]["message"].as_str().unwrap().contains(change), "{asked}");
        agree(&world, &asked);
        world.ok("resume", json!({}));
        assert_eq!(world.settled()["state"], "complete");
        assert_eq!(world.calls(), ["worker", "deployer"]);
    }
}

#[test]
fn a_reverted_change_does_not_ask() {
    let world = asking(TWO);
    world.hook("[ \"$1\" = worker ] && echo evil > AGENTS.md; echo done");
    assert_eq!(start(&world)["reason"], "trust");
    fs::remove_file(world.path("AGENTS.md")).unwrap();
    world.ok("resume", json!({}));
    assert_eq!(world.settled()["state"], "complete");
}

#[test]
fn a_lapsed_run_can_be_cancelled_or_trusted_again() {
    let world = asking(TWO);
    world.hook("[ \"$1\" = worker ] && echo evil >> AGENTS.md; echo done");
    assert_eq!(start(&world)["reason"], "trust");
    world.ok("resume", json!({ "answer": "trust" }));
    assert_eq!(world.settled()["state"], "complete");
    world.run("ship", json!({}));
    assert_eq!(world.settled()["reason"], "trust");
    world.ok("cancel", json!({}));
    assert_eq!(world.settled()["state"], "cancelled");
}

#[test]
fn a_change_after_a_gate_waits_for_that_gate() {
    let world = asking(
        "stages:\n  - {agent: worker}\n  - {agent: worker}\n  - {gate: human-approval}\n  - {agent: deployer}\n",
    );
    world.hook("[ \"$1\" = worker ] && echo evil >> .claude/agents/deployer.md; echo done");
    let picture = start(&world);
    assert_eq!(picture["gate"]["id"], "3.1", "{picture:#}");
    assert_eq!(world.calls(), ["worker", "worker"]);
    world.refused("decide", json!({ "decision": "approve" }), "untrusted");
}

#[test]
fn the_work_itself_does_not_affect_trust() {
    let world = asking(TWO);
    world.hook("mkdir -p src docs .claude/memory; echo $1 >> src/main.rs; echo $1 >> docs/PLAN.md; echo x > .claude/memory/a; echo done");
    assert_eq!(start(&world)["state"], "complete");
}

#[test]
fn a_second_attempt_is_checked_too_unless_always_trusted() {
    let world = asking("stages:\n  - {agent: worker, max_attempts: 3}\n");
    world.hook("echo evil >> .claude/agents/worker.md; exit 1");
    let picture = start(&world);
    assert_eq!(picture["reason"], "trust", "{picture:#}");
    assert_eq!((world.calls().len(), &picture["stages"][0]["attempt"]), (1, &json!(2)));
    world.ok("cancel", json!({}));
    world.configure(json!({ "trust": "always" }));
    world.run("ship", json!({}));
    assert_eq!(world.settled()["reason"], "failed");
    assert_eq!(world.calls().len(), 4);
}

//! How a run continues, what it does not repeat, and what is asked first after a change.

use crate::world::World;
use serde_json::{Value, json};
use std::fs;
use superpower::check;
use superpower::run::event::Event;

const TWO: &str = "stages:
  - {agent: maker, description: Make}
  - {gate: human-approval, description: Look}
  - {agent: shipper, description: Ship}
";

#[test]
fn the_kept_declaration_equals_the_source_and_is_valid() {
    let world = World::new();
    world.write(
        ".claude/superpowers/two.yaml",
        "# kept with its comments\nname: two\ndescription: \"{{x}} stays\"\nversion: \"1.0.0\"\ninputs: [{name: x}]\nstages:\n  - {agent: maker, description: 'Make {{x}}'}\n  - gate: human-approval\n",
    );
    let run_id = world.run("two", json!({ "x": "{{x}}" }));
    world.settled();
    let kept = fs::read(world.path(&format!(".claude/state/runs/{run_id}/declaration-1.yaml"))).unwrap();
    assert_eq!(kept, fs::read(world.path(".claude/superpowers/two.yaml")).unwrap());
    let checked = check::check_bytes(&kept, &check::Context::default());
    assert!(checked.declaration.is_some(), "{:?}", checked.diagnostics);
}

#[test]
fn resuming_an_ended_run_does_nothing_and_says_so() {
    let world = World::new();
    world.declare("two", TWO);
    let done = world.run("two", json!({}));
    world.settled();
    world.ok("decide", json!({ "decision": "approve" }));
    world.settled();
    let waiting = world.run("two", json!({}));
    world.settled();
    let calls = world.calls();
    let journal = format!(".claude/state/runs/{done}/journal.jsonl");
    let (before, squad) = (world.read(&journal), world.squad());
    let message = world.refused("resume", json!({ "which": done }), "finished");
    assert_eq!(message, "two is complete; start it again with :Superpower run two");
    assert_eq!(
        (world.read(&journal), world.squad()),
        (before, squad),
        "the run that waits is the current one still"
    );
    assert_eq!(world.calls(), calls);
    assert_eq!(world.ok("resume", json!({}))["run_id"], json!(waiting));
}

#[test]
fn nothing_starts_between_a_pause_and_its_resume() {
    let world = World::new();
    world.declare("one", "stages:\n  - {agent: a}\n  - {agent: b}\n");
    world.hook("echo ready > ready; while [ ! -e go ]; do sleep 0.02; done; echo fine");
    let run_id = world.run("one", json!({}));
    world.until("the agent to be ready", |_| world.path("ready").exists());
    world.ok("pause", json!({}));
    world.write("go", "");
    assert_eq!(world.settled()["reason"], "user");
    world.ok("resume", json!({}));
    world.settled();
    let records = world.records(&run_id);
    let at = |wanted: fn(&Event) -> bool| records.iter().position(|record| wanted(&record.event)).unwrap();
    let asked = at(|event| matches!(event, Event::PauseRequested { .. }));
    let ended = at(|event| matches!(event, Event::AttemptEnded { .. }));
    let resumed = at(|event| matches!(event, Event::Resumed { .. }));
    assert!(asked < ended && ended < resumed, "the agent is let finish");
    let starts = |event: &Event| {
        matches!(event, Event::AgentStarted { launch: 2, .. } | Event::StageDecided { stage: 1, .. })
    };
    assert!(!records[asked..resumed].iter().any(|record| starts(&record.event)));
    assert!(records[resumed..].iter().any(|record| starts(&record.event)));
}

#[test]
fn an_approved_gate_continues_only_once_even_after_a_restart() {
    let mut world = World::new();
    world.declare("two", TWO);
    world.run("two", json!({}));
    world.settled();
    world.restart();
    world.ok("decide", json!({ "decision": "approve" }));
    world.settled();
    world.restart();
    world.refused("resume", json!({}), "finished");
    assert_eq!(world.calls(), ["maker", "shipper"]);
}

#[test]
fn two_runs_of_a_project_do_not_affect_each_other() {
    let world = World::new();
    world.declare("two", TWO);
    world.declare("other", TWO);
    let first = world.run("two", json!({}));
    world.settled();
    let second = world.run("other", json!({}));
    world.settled();
    assert_eq!(world.ok("resume", json!({ "which": "two" }))["run_id"], json!(first));
    world.settled();
    world.ok("decide", json!({ "decision": "approve" }));
    assert_eq!(world.settled()["run_id"], json!(first));
    assert_eq!(world.squad()["run_id"], json!(first));
    world.ok("resume", json!({ "which": second[..18] }));
    assert_eq!(world.settled()["gate"]["id"], "2.1");
    assert_eq!(world.squad()["active_superpower"], "other");
}

/// Another tool's run is never overwritten: it is taken over, or moved aside if unreadable.
#[test]
fn another_tools_run_is_kept_when_a_new_one_starts() {
    let world = World::new();
    world.declare("two", TWO);
    let theirs = |squad: Value| world.write(".claude/state/squad.json", &squad.to_string());
    theirs(json!({ "active_superpower": "two", "current_stage": 2, "status": "paused", "inputs": {} }));
    let ours = world.run("two", json!({}));
    world.settled();
    let runs = world.ok("runs", json!({}));
    assert_eq!(runs.as_array().unwrap().len(), 2, "{runs:#}");
    assert_eq!(world.squad()["run_id"], json!(ours));
    let kept = runs.as_array().unwrap().iter().find(|run| run["run_id"] != json!(ours)).unwrap().clone();
    assert_eq!(
        (&kept["state"], &kept["reason"], &kept["current_stage"]),
        (&json!("paused"), &json!("gate"), &json!(2))
    );
    let notices: Vec<Value> = world.events().into_iter().filter(|event| event["type"] == "notice").collect();
    assert!(
        notices
            .iter()
            .any(|event| event["message"].as_str().unwrap().contains(kept["run_id"].as_str().unwrap()))
    );

    let asides = |world: &World| {
        let names =
            fs::read_dir(world.path(".claude/state")).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().starts_with("squad.json.corrupt-")).count()
    };
    // A readable file that cannot be taken over stays: the verb is refused and says what is there.
    let needs = "inputs:\n  - {name: scope, required: true}\n".to_owned() + TWO;
    world.declare("needs", &needs);
    for (squad, code, says) in [
        (json!({ "active_superpower": "gone", "current_stage": 1 }), "foreign-squad", "gone"),
        (json!({ "active_superpower": "two", "current_stage": 9 }), "foreign-squad", "is at stage 9 of two"),
        (
            json!({ "active_superpower": "needs", "current_stage": 1 }),
            "foreign-squad",
            "lacks an input of needs",
        ),
        (json!({ "active_superpower": "two", "current_stage": "four" }), "unreadable-squad", "\"four\""),
    ] {
        theirs(squad.clone());
        for (op, fields) in [("run", json!({ "name": "two" })), ("resume", json!({ "run_id": ours }))] {
            let message = world.refused(op, fields, code);
            assert!(message.contains(says), "{op}: {message}");
            assert!(message.contains(":Superpower cancel moves the file aside"), "{op}: {message}");
        }
        assert_eq!((world.squad(), asides(&world)), (squad, 0));
    }
    world.write(".claude/state/squad.json", "{\"active_superp");
    world.run("two", json!({}));
    world.settled();
    assert_eq!(asides(&world), 1);
    let said = world.events().into_iter().any(|event| {
        event["type"] == "notice" && event["message"].as_str().unwrap().contains("squad.json.corrupt-")
    });
    assert!(said);
    // A finished run need not be kept.
    theirs(json!({ "active_superpower": "two", "current_stage": 3, "status": "completed" }));
    world.run("two", json!({}));
    world.settled();
    assert_eq!(asides(&world), 1);
}

/// A run can always be cancelled, also one that no verb can take over, and ours behind such a file.
#[test]
fn cancel_moves_a_squad_aside_that_cannot_be_taken_over() {
    for text in [
        r#"{"active_superpower": "two", "status": ["x"]}"#,
        r#"{"active_superpower": "two", "current_stage": "four"}"#,
        r#"{"active_superpower": "two", "inputs": [1]}"#,
        r#"{"active_superpower": "../x"}"#,
        r#"{"active_superpower": "gone"}"#,
        r#"{"active_superpower": "two", "current_stage": 9}"#,
        r#"{"active_superpower": "needs"}"#,
        "{}",
        "[]",
        "{\"active_superp",
    ] {
        let world = World::new();
        world.declare("two", TWO);
        world.declare("needs", &("inputs:\n  - {name: scope, required: true}\n".to_owned() + TWO));
        world.write(".claude/state/squad.json", text);
        assert_eq!(world.ok("cancel", json!({}))["state"], "cancelled", "{text}");
        let kept = moved(&world);
        assert_eq!(kept.len(), 1, "{text}");
        assert_eq!(fs::read_to_string(&kept[0]).unwrap(), text);
        let said = world.events().into_iter().any(|event| {
            let message = event["message"].as_str().unwrap_or_default().to_owned();
            message.contains(kept[0].file_name().unwrap().to_str().unwrap())
        });
        assert!(said, "{text}");
        world.refused("cancel", json!({}), "nothing-to-resume");
        // Ours is cancelled too, if it is named.
        let ours = world.run("two", json!({}));
        world.settled();
        world.write(".claude/state/squad.json", text);
        world.ok("cancel", json!({ "run_id": ours }));
        assert_eq!(world.status()["state"], "cancelled", "{text}");
        assert_eq!(moved(&world).len(), 2, "{text}");
    }
}

/// What was moved out of the place of `squad.json`.
fn moved(world: &World) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(world.path(".claude/state")).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("squad.json.")).collect()
}

/// An unreadable file may have named a run of ours, which is not cancelled without a word.
#[test]
fn cancel_of_an_unreadable_squad_cancels_no_other_run() {
    let mut world = World::new();
    world.declare("two", TWO);
    let ours = world.run("two", json!({}));
    world.settled();
    world.restart();
    world.write(".claude/state/squad.json", "{\"active_superp");
    world.refused("cancel", json!({}), "unreadable-squad");
    assert_eq!(world.ok("status", json!({ "run_id": ours }))["state"], "paused");
    world.ok("cancel", json!({}));
    assert_eq!(world.ok("status", json!({ "run_id": ours }))["state"], "cancelled");
}

/// Of a run of ours only the id matters: the rest is in its journal.
#[test]
fn other_fields_of_our_own_squad_need_not_be_valid() {
    for (field, value) in [
        ("status", json!(["x"])),
        ("current_stage", json!("four")),
        ("inputs", json!([1])),
        ("status", json!(3)),
    ] {
        let mut world = World::new();
        world.declare("two", TWO);
        world.run("two", json!({}));
        world.settled();
        world.restart();
        let mut squad = world.squad();
        squad[field] = value;
        world.write(".claude/state/squad.json", &squad.to_string());
        assert_eq!(world.status()["reason"], "gate", "{field}");
        world.ok("cancel", json!({}));
        world.settled();
        assert_eq!(
            (&world.squad()["status"], &world.squad()["current_stage"]),
            (&json!("cancelled"), &json!(2))
        );
    }
}

/// A verb may have to ask twice, and gets both answers.
#[test]
fn an_edited_declaration_and_changed_files_are_asked_about_one_after_the_other() {
    let mut world = World::new();
    world.declare("two", TWO);
    world.write("agent-hook", "");
    world.hook("[ $1 = maker ] && echo plan > plan.md; echo fine");
    let run_id = world.run("two", json!({}));
    world.settled();
    world.ok("decide", json!({ "decision": "approve" }));
    world.settled();
    world.restart();
    world.cut_journal(&run_id, "\"gate-decided\"");
    world.write("plan.md", "another plan\n");
    world.declare("two", &TWO.replace("Make", "Make it"));
    world.refused("resume", json!({}), "files-changed");
    world.refused("resume", json!({ "answer": "go-on" }), "declaration-changed");
    world.refused("resume", json!({ "answer": "go-on,maybe" }), "bad-request");
    world.ok("resume", json!({ "answer": "go-on,old" }));
    assert_eq!(world.settled()["state"], "complete");
}

/// Impossible answers are not offered, and what the new declaration needs is checked before it is used.
#[test]
fn an_unusable_edited_declaration_says_why_and_what_to_do() {
    let world = World::new();
    world.declare("one", "stages:\n  - {agent: a}\n  - {gate: human-approval}\n  - {agent: b}\n");
    world.run("one", json!({}));
    assert_eq!(world.settled()["reason"], "gate");
    world.declare("one", "stages:\n  - {agent: a}\n  - {gate: human_approval}\n  - {agent: b}\n");
    for answer in [json!({}), json!({ "answer": "new" })] {
        let message = world.refused("resume", answer, "declaration-unusable");
        assert!(message.contains("one.yaml:6:12: stages[2].gate: unknown gate"), "{message}");
        assert!(message.contains("answer=old") && !message.contains("answer=new"), "{message}");
    }
    world.declare("one", "stages:\n  - {agent: a}\n  - {agent: b, harness: opencode}\n");
    let nowhere = json!({ "opencode": { "cmd": ["/nowhere/opencode"] } });
    let agent = json!({ "cmd": [world.path("bin/agent"), "{agent}{skill}"] });
    world.configure(json!({ "harnesses": { "opencode": nowhere["opencode"], "command": agent } }));
    world.refused("resume", json!({ "answer": "new" }), "no-harness");
    world.look();
    world.ok("decide", json!({ "decision": "approve", "answer": "old" }));
    assert_eq!(world.settled()["state"], "complete");
}

/// The other verbs that continue a run ask too.
#[test]
fn retry_and_skip_ask_about_an_edited_declaration() {
    let world = World::new();
    world.declare("one", "stages:\n  - {agent: a, max_attempts: 1}\n  - {agent: b}\n");
    world.hook("[ $1 = c ] && echo fine || exit 1");
    world.run("one", json!({}));
    assert_eq!(world.settled()["reason"], "failed");
    world.declare("one", "stages:\n  - {agent: c, max_attempts: 1}\n  - {agent: c}\n");
    for op in ["retry", "skip"] {
        world.refused(op, json!({}), "declaration-changed");
    }
    world.ok("retry", json!({ "answer": "new" }));
    assert_eq!(world.settled()["state"], "complete");
    assert_eq!(world.calls(), ["a", "c", "c"]);
}

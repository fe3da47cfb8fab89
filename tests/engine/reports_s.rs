//! What went wrong for others on the way back (REPORTS, rows S), and where the two seed systems themselves went wrong
//! (the traps) as far as it is about a run: a test a row, named after it. S1 is in `crash`, S3 and S14 in `disk`, S6 in
//! `race`, S8 in `drift` and `disk`.

use crate::world::World;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use superpower::check;
use superpower::run::event::Event;

const TWO: &str = "stages:
  - {agent: maker, description: Make}
  - {gate: human-approval, description: Look}
  - {agent: shipper, description: Ship}
";

/// Whether a file of ours may write files itself: the storage modules, and what writes no state of a run.
fn writes(path: &str) -> bool {
    let storage = ["src/store/", "src/checkpoint/", "src/project/review", "src/process/"];
    storage.iter().any(|inner| path.contains(inner))
        || ["src/project/trust.rs", "src/harness/launch.rs", "src/nvim/panics.rs"]
            .iter()
            .any(|it| path.ends_with(it))
}

fn sources(dir: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap().to_owned();
            found.push((path.to_string_lossy().into_owned(), code));
        }
    }
}

#[test]
fn s4_state_is_written_by_the_storage_modules_alone() {
    let mut all = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut all);
    assert!(all.len() > 100);
    for (path, code) in all {
        for word in ["fs::write(", "File::create(", "fs::rename(", "OpenOptions"] {
            assert!(!code.contains(word) || writes(&path), "{path} writes by itself: {word}");
        }
    }
}

/// What our own messages tell people to type exists.
#[test]
fn s6_every_command_that_a_message_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut known = String::new();
    for name in ["commands/subcommands", "commands/views"] {
        known += &fs::read_to_string(root.join(format!("lua/superpower/{name}.lua"))).unwrap();
    }
    let exists = |verb: &str| {
        ["gate", "progress"].contains(&verb)
            || [
                format!("M.{verb} ="),
                format!("M[\"{verb}\"]"),
                format!("  {verb} = "),
                format!("subcommands.{verb} ="),
                format!("decision(\"{verb}\""),
            ]
            .iter()
            .any(|form| known.contains(form.as_str()))
    };
    let mut all = Vec::new();
    sources(&root.join("src"), &mut all);
    let mut named = 0;
    for (path, code) in all {
        for after in code.split(":Superpower ").skip(1) {
            let verb: String = after.chars().take_while(char::is_ascii_lowercase).collect();
            named += 1;
            assert!(exists(&verb), "{path} tells people to type \":Superpower {verb}\"");
        }
    }
    assert!(named > 10, "{named}");
}

#[test]
fn s7_looking_at_a_project_starts_nothing_and_writes_nothing() {
    let threads = || fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    let world = World::new();
    world.declare("two", TWO);
    let before = threads();
    for (op, fields) in [
        ("list", json!({})),
        ("check", json!({ "path": world.path(".claude/superpowers/two.yaml") })),
        ("inputs", json!({ "name": "two" })),
        ("plan", json!({ "name": "two" })),
        ("status", json!({})),
        ("runs", json!({})),
        ("trust", json!({ "name": "two" })),
        ("health", json!({})),
    ] {
        world.ok(op, fields);
    }
    assert_eq!(threads(), before);
    assert!(!world.path(".claude/state").exists() && !world.path(".claude/logs").exists());
    assert!(world.calls().is_empty());
}

#[test]
fn s9_the_kept_declaration_is_the_source_and_checks() {
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
fn s10_resuming_what_is_over_does_nothing_and_says_so() {
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
    assert_eq!(message, "two is complete; start it anew with :Superpower run two");
    assert_eq!(
        (world.read(&journal), world.squad()),
        (before, squad),
        "the run that waits is the current one still"
    );
    assert_eq!(world.calls(), calls);
    assert_eq!(world.ok("resume", json!({}))["run_id"], json!(waiting));
}

#[test]
fn s12_what_earlier_stages_learned_is_passed_on_after_a_restart_too() {
    let mut world = World::new();
    world.declare("two", TWO);
    world.hook("cat .prompt > seen; echo \"$1 found that the pipe is blue\"");
    world.run("two", json!({}));
    world.settled();
    world.restart();
    world.ok("decide", json!({ "decision": "approve", "comment": "mind the paint" }));
    world.settled();
    let prompt = world.read("seen");
    assert!(
        prompt.contains("maker found that the pipe is blue") && prompt.contains("mind the paint"),
        "{prompt}"
    );
}

#[test]
fn s13_nothing_starts_between_a_pause_and_its_resume() {
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
fn trap_2_a_fact_that_nobody_provides_runs_nothing() {
    let world = World::new();
    world.declare("typo", "stages:\n  - {agent: a, when: story.ui_tru}\n");
    let message = world.refused("run", json!({ "name": "typo" }), "invalid-declaration");
    assert!(message.contains("did you mean \"story.ui_true\""), "{message}");
    assert!(world.calls().is_empty());
}

#[test]
fn trap_3_4_5_conditions_over_inputs_mean_what_they_say() {
    let world = World::new();
    world.declare(
        "scoped",
        "inputs:
  - {name: scope, type: enum, enum: [full, tokens only], default: full}
  - {name: my-scope, default: x}
stages:
  - {agent: default, when: '{{scope}} == full'}
  - {agent: both, when: '{{scope}} == full && never'}
  - {agent: quoted, when: '{{ scope }} == \"tokens only\"'}
  - {agent: hyphen, when: '{{my-scope}} == x'}
  - {agent: not, when: '{{scope}} != full'}
",
    );
    world.run("scoped", json!({}));
    world.settled();
    assert_eq!(world.calls(), ["default", "hyphen"]);
    world.run("scoped", json!({ "scope": "tokens only", "my-scope": "y" }));
    world.settled();
    assert_eq!(world.calls(), ["default", "hyphen", "quoted", "not"]);
}

#[test]
fn trap_6_an_agent_is_given_values_and_never_braces() {
    let world = World::new();
    world.declare(
        "values",
        "inputs: [{name: epic, required: true}, {name: note}]
stages:
  - {agent: a, description: 'On {{epic}}', inputs: {epic: '{{epic}}', of: 'about {{epic}}{{note}}'}}
",
    );
    world.run("values", json!({ "epic": "rain", "note": "{{epic}}" }));
    world.settled();
    let prompt = world.read(".prompt");
    for line in ["On rain", "- epic: rain", "- of: about rain{{epic}}", "- note: {{epic}}"] {
        assert!(prompt.contains(line), "{line}:\n{prompt}");
    }
}

#[test]
fn trap_7_an_approved_gate_leads_on_once_after_a_restart_too() {
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
fn trap_12_two_runs_stand_side_by_side() {
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

#[test]
fn trap_20_a_failed_execute_is_not_tried_for_ever() {
    let world = World::new();
    world.declare("loop", "stages:\n  - {agent: loop-executor}\n");
    world.hook("echo 'no.'; echo '{\"verdict\": \"FAIL\"}'");
    world.run("loop", json!({}));
    assert_eq!(world.settled()["reason"], "failed");
    assert_eq!(world.calls().len(), 3, "EXECUTE tries again, up to its attempts");
    world.declare("plain", "stages:\n  - {agent: other}\n");
    world.run("plain", json!({}));
    assert_eq!(world.settled()["reason"], "failed");
    assert_eq!(world.calls().len(), 4, "the verdict FAIL of any other stage ends its attempts");
}

#[test]
fn trap_22_a_stage_is_given_what_an_earlier_one_said() {
    let world = World::new();
    world.declare(
        "passing",
        "stages:
  - {name: find, agent: finder}
  - {name: skipped, agent: nobody, when: never}
  - {name: gate, gate: human-approval}
  - {agent: fixer, inputs: {cause: '{{stages.find.result}}', none: '<{{stages.skipped.result}}>', said: '{{stages.3.result}}'}}
",
    );
    world.hook("[ $1 = finder ] && echo 'the valve' || { cat .prompt > seen; echo fixed; }");
    world.run("passing", json!({}));
    world.settled();
    world.ok("decide", json!({ "decision": "approve", "comment": "yes, that" }));
    world.settled();
    let prompt = world.read("seen");
    for line in ["- cause: the valve", "- none: <>", "- said: yes, that"] {
        assert!(prompt.contains(line), "{line}:\n{prompt}");
    }
}

/// SPEC section 7: nothing of another tool's is overwritten without being taken over or moved aside.
#[test]
fn another_tools_run_is_kept_when_a_new_one_begins() {
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

    // One of a superpower that is not here, one that says nonsense and one that cannot be read: moved aside, and said.
    let asides = |world: &World| {
        let names =
            fs::read_dir(world.path(".claude/state")).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().starts_with("squad.json.corrupt-")).count()
    };
    for (n, text) in [
        "{\"active_superpower\": \"gone\", \"current_stage\": 1, \"status\": \"paused\"}",
        "{\"active_superpower\": \"two\", \"current_stage\": \"four\"}",
        "{\"active_superp",
    ]
    .iter()
    .enumerate()
    {
        world.write(".claude/state/squad.json", text);
        world.run("two", json!({}));
        world.settled();
        assert_eq!(asides(&world), n + 1);
        let said = world.events().into_iter().any(|event| {
            event["type"] == "notice" && event["message"].as_str().unwrap().contains("squad.json.corrupt-")
        });
        assert!(said, "{text}");
    }
    // What is done needs no keeping.
    theirs(json!({ "active_superpower": "two", "current_stage": 3, "status": "completed" }));
    world.run("two", json!({}));
    world.settled();
    assert_eq!(asides(&world), 3);
}

/// SPEC section 5: a verb may have to ask twice, and is given both answers.
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

/// What cannot be chosen is not offered, and what the new declaration needs is looked for before it is taken.
#[test]
fn an_edited_declaration_that_cannot_be_used_says_why_and_what_can_be_done() {
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
    world.ok("decide", json!({ "decision": "approve", "answer": "old" }));
    assert_eq!(world.settled()["state"], "complete");
}

/// The same for the other verbs that go on with a run: they ask too.
#[test]
fn retry_and_skip_mind_an_edited_declaration() {
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

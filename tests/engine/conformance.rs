//! The same machine in each of its homes: the same superpowers and decisions give the same log and the same end, whether
//! a run is driven in the editor or in a process of its own.

use crate::clients::{Editor, Ends};
use crate::world::World;
use regex::Regex;
use serde_json::{Value, json};

/// What a human does next, once the run has stopped.
enum Step {
    Run(Value),
    Approve,
    Changes(&'static str),
    Reject(&'static str),
    Verb(&'static str, Value),
    /// Writes a file of the project.
    Write(&'static str, &'static str),
    /// Replaces what agents do.
    Hook(&'static str),
}

use Step::{Approve, Changes, Hook, Reject, Run, Verb, Write};

struct Scenario {
    name: &'static str,
    declaration: &'static str,
    hook: &'static str,
    steps: Vec<Step>,
}

const TWO: &str = "stages:\n  - agent: writer\n  - agent: printer\n";
const GATED: &str = "stages:
  - agent: writer
  - {gate: human-approval, description: Look, rework: '1'}
  - agent: printer
";
const LAST_GATE: &str = "stages:\n  - agent: writer\n  - gate: human-approval\n";
const GATE_FIRST: &str = "stages:\n  - gate: human-approval\n  - agent: writer\n";
const INPUTS: &str = "inputs:
  - {name: topic, required: true}
  - {name: deep, type: boolean, default: 'false'}
stages:
  - agent: writer
    description: 'On {{topic}}'
  - agent: digger
    when: '{{deep}}'
  - skill: publish
";
const VERDICT: &str = "stages:
  - agent: reviewer
    expects:
      verdict: true
  - agent: printer
";
const ONCE: &str = "stages:\n  - {agent: writer, max_attempts: 1}\n  - agent: printer\n";
const FACTS: &str =
    "stages:\n  - {agent: a, when: 'story.ui_true'}\n  - {agent: b, when: '!story.ui_true'}\n";

const WELL: &str = "echo \"$1 reports\"";
const FAILS: &str = "echo no luck >&2; exit 1";
const ASKS: &str = "test -e answered || { touch answered; echo 'which one?'; exit 2; }; echo thanks";
const WRITES: &str = "echo \"$1 $SUPERPOWER_ATTEMPT\" >> work.txt; echo written";

fn scenarios() -> Vec<Scenario> {
    let run = || Run(json!({}));
    let verb = |name| Verb(name, json!({}));
    let of = |name, declaration, hook, steps| Scenario { name, declaration, hook, steps };
    vec![
        of("two stages", TWO, WELL, vec![run()]),
        of("twice in a row", TWO, WELL, vec![run(), run()]),
        of("files are written", TWO, WRITES, vec![run()]),
        of("approved", GATED, WRITES, vec![run(), Approve]),
        of("approved at the last gate", LAST_GATE, WRITES, vec![run(), Approve]),
        of("a gate comes first", GATE_FIRST, WELL, vec![run(), Approve]),
        of("changes, then approved", GATED, WRITES, vec![run(), Changes("more salt"), Approve]),
        of("changes twice", GATED, WRITES, vec![run(), Changes("one"), Changes("two"), Approve]),
        of("rejected", GATED, WELL, vec![run(), Reject("not today")]),
        of("rejected and run again", GATED, WELL, vec![run(), Reject(""), run(), Approve]),
        of("cancelled at a gate", GATED, WELL, vec![run(), verb("cancel")]),
        of("resumed at a gate", GATED, WELL, vec![run(), verb("resume"), Approve]),
        of("fails for good", TWO, FAILS, vec![run()]),
        of("retried", ONCE, FAILS, vec![run(), Hook(WELL), Verb("retry", json!({ "comment": "again" }))]),
        of("retried in vain", ONCE, FAILS, vec![run(), verb("retry"), verb("cancel")]),
        of("skipped", ONCE, FAILS, vec![run(), Hook(WELL), verb("skip")]),
        of("resumed after a failure", ONCE, FAILS, vec![run(), Hook(WELL), verb("resume")]),
        of("an answer", TWO, ASKS, vec![run(), Verb("retry", json!({ "comment": "the blue one" }))]),
        of("blocked", TWO, "echo 'no key'; exit 4", vec![run(), Hook(WELL), verb("resume")]),
        of("no output", ONCE, "true", vec![run(), verb("cancel")]),
        of("inputs", INPUTS, WELL, vec![Run(json!({ "topic": "tea" }))]),
        of("an input that adds a stage", INPUTS, WELL, vec![Run(json!({ "topic": "tea", "deep": "true" }))]),
        of("a missing input", INPUTS, WELL, vec![run()]),
        of("an unknown input", INPUTS, WELL, vec![Run(json!({ "topic": "tea", "tpoic": "x" }))]),
        of("a passing verdict", VERDICT, "echo 'VERDICT: PASS'", vec![run()]),
        of("a failing verdict", VERDICT, "echo 'VERDICT: FAIL'", vec![run(), verb("cancel")]),
        of("no verdict", VERDICT, WELL, vec![run(), verb("cancel")]),
        of("facts", FACTS, WELL, vec![run()]),
        of("facts, with a story", FACTS, WELL, vec![Write("docs/story.md", "---\nui: true\n---\n"), run()]),
        of("secrets", TWO, "echo \"$HOME is home\"", vec![run()]),
        of("much output", TWO, "seq 1 20000", vec![run()]),
        of("nothing to cancel", TWO, WELL, vec![verb("cancel"), run(), verb("cancel")]),
        of("nothing to resume", TWO, WELL, vec![verb("resume"), run(), verb("resume")]),
        of("nothing to retry", GATED, WELL, vec![run(), verb("retry"), verb("skip"), Approve]),
        of("approve twice", LAST_GATE, WELL, vec![run(), Approve, Approve]),
        of("an invalid declaration", "stages:\n  - agnet: writer\n", WELL, vec![run()]),
        of(
            "edited while it waits",
            GATED,
            WELL,
            vec![
                run(),
                Write(
                    ".claude/superpowers/played.yaml",
                    "name: played\ndescription: x\nversion: '2'\nstages:\n  - agent: other\n",
                ),
                verb("resume"),
                Verb("resume", json!({ "answer": "old" })),
                Verb("cancel", json!({})),
            ],
        ),
        of(
            "a changed file between look and approval",
            GATED,
            WRITES,
            vec![
                run(),
                Verb("review", json!({})),
                Write("work.txt", "somebody else\n"),
                Verb("decide", json!({ "decision": "approve", "by": "ann" })),
                Approve,
            ],
        ),
    ]
}

/// What came of a scenario: each answer, the log, and where the run stands.
fn played(scenario: &Scenario, driver: &str) -> String {
    let world = World::new();
    world.declare("played", scenario.declaration);
    world.hook(scenario.hook);
    let mut editor = Editor::configured(&world, json!({ "driver": driver }));
    let mut told = Vec::new();
    for step in &scenario.steps {
        let (op, fields) = match step {
            Run(inputs) => ("run", json!({ "name": "played", "inputs": inputs, "by": "ann" })),
            Approve => ("decide", json!({ "decision": "approve", "by": "ann" })),
            Changes(comment) => ("decide", json!({ "decision": "changes", "comment": comment, "by": "ann" })),
            Reject(comment) => ("decide", json!({ "decision": "reject", "comment": comment, "by": "ann" })),
            Verb(name, fields) => (*name, fields.clone()),
            Write(path, text) => {
                world.write(path, text);
                continue;
            }
            Hook(script) => {
                world.hook(script);
                continue;
            }
        };
        if matches!(step, Approve | Changes(_) | Reject(_)) {
            editor.call("review", json!({}));
        }
        let answer = editor.call(op, fields);
        let said = match answer.get("err") {
            Some(err) => format!("{}: {}", err["code"], err["message"]),
            None => "ok".to_owned(),
        };
        told.push(format!("{op}: {said}"));
        settle(&mut editor);
    }
    let status = editor.ok("status", json!({}));
    told.extend(world.log());
    for key in ["state", "reason", "detail", "summary", "current_stage", "gate"] {
        told.push(format!("{key}: {}", status[key]));
    }
    for stage in status["stages"].as_array().into_iter().flatten() {
        told.push(format!("{} {} {} {}", stage["label"], stage["mark"], stage["note"], stage["attempt"]));
    }
    told.extend(world.calls());
    told.push(world.squad_if_there()["status"].to_string());
    let driven = editor.driver().map(Ends);
    assert_eq!(driven.is_some(), driver == "process", "{}", scenario.name);
    editor.leave();
    anonymous(&told.join("\n"), &world)
}

/// Waits until nothing is driven.
fn settle(editor: &mut Editor) {
    let end = std::time::Instant::now() + crate::clients::LONG;
    loop {
        let status = editor.call("status", json!({}));
        let running = status["ok"]["state"] == "running";
        if !running && superpower::store::lease::holder(&editor.root).is_none() {
            return;
        }
        assert!(std::time::Instant::now() < end, "it does not stop: {status:#}");
        std::thread::sleep(std::time::Duration::from_millis(3));
    }
}

/// Without what differs between two runs of the same: ids, paths and times.
fn anonymous(text: &str, world: &World) -> String {
    let text = text.replace(&world.root().display().to_string(), "ROOT");
    let id = Regex::new("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").unwrap();
    let text = id.replace_all(&text, "ID");
    let time = Regex::new(r"\b\d+(\.\d+)?(ms|s)\b|\d{2}:\d{2}(:\d{2})?").unwrap();
    time.replace_all(&text, "TIME").into_owned()
}

#[test]
fn a_run_is_the_same_in_an_editor_and_in_a_driver() {
    let mut stories = 0;
    for scenario in scenarios() {
        let in_editor = played(&scenario, "editor");
        let in_driver = played(&scenario, "process");
        assert_eq!(in_editor, in_driver, "{}", scenario.name);
        assert!(in_editor.lines().count() > 5, "{}: {in_editor}", scenario.name);
        stories += 1;
    }
    assert!(stories >= 38);
}

//! Open declarations: the diagnostics while they are edited, and the editor features.

use crate::alone::{alone, until_no_thread_is};
use crate::world::World;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const FLOW: &str = "name: flow
description: \"ä𝄞 {{nope}}\"
version: \"1.0.0\"
inputs: [{name: epic}, {name: epic}]
stages:
  - agent: spec-kit
    name: plan
  - agent: qa
    when: \"story.ui_true\"
    gate: humn-approval
";

struct Editor {
    world: World,
    tick: i64,
}

impl Editor {
    fn new() -> Self {
        let world = World::new();
        world.write(".claude/agents/spec-kit.md", "---\nname: spec-kit\ndescription: Writes\n---\n");
        world.write(".claude/agents/qa.md", "---\ndescription: Tests\n---\n");
        Self { world, tick: 0 }
    }

    fn path(&self) -> std::path::PathBuf {
        self.world.path(".claude/superpowers/flow.yaml")
    }

    /// The diagnostics, at once; for the first text, once the project is read.
    fn types(&mut self, text: &str) -> Value {
        self.tick += 1;
        let said = self.world.ok("document", json!({ "path": self.path(), "text": text, "tick": self.tick }));
        if self.tick == 1 && said["pending"] == true { self.event("diagnostics") } else { said }
    }

    fn codes(&mut self, text: &str) -> Vec<String> {
        let answer = self.types(text);
        let all = answer["diagnostics"].as_array().unwrap_or_else(|| panic!("{answer:#}")).clone();
        all.iter().map(|fault| fault["code"].as_str().unwrap().to_owned()).collect()
    }

    fn asks(&self, method: &str, place: (usize, usize)) -> Value {
        let fields = json!({ "path": self.path(), "tick": self.tick, "method": method, "position": place });
        answer(self.world.call("assist", fields))
    }

    fn event(&self, kind: &str) -> Value {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            if let Some(event) = self.world.events().into_iter().rfind(|event| event["type"] == kind) {
                return event;
            }
            assert!(Instant::now() < end, "no {kind} came");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn answer(answer: Value) -> Value {
    assert!(answer.get("ok").is_some(), "{answer:#}");
    answer["ok"].clone()
}

#[test]
fn faults_come_in_the_protocols_shape_with_utf16_columns() {
    let mut editor = Editor::new();
    let answer = editor.types(FLOW);
    let faults = answer["diagnostics"].as_array().unwrap();
    let codes: Vec<_> = faults.iter().map(|fault| fault["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["duplicate-input", "unknown-gate"]);
    let [double, gate] = faults.as_slice() else { panic!("{faults:#?}") };
    assert_eq!(
        double["range"],
        json!({ "start": { "line": 3, "character": 30 }, "end": { "line": 3, "character": 34 } })
    );
    assert!(double["relatedInformation"][0]["location"]["uri"].as_str().unwrap().ends_with("/flow.yaml"));
    assert_eq!((gate["severity"].as_u64(), gate["source"].as_str()), (Some(1), Some("superpower")));
    let answer = editor
        .types(&FLOW.replace("  - agent: spec-kit", "  - description: \"ä𝄞 {{nope}}\"\n    agent: spec-kit"));
    let faults = answer["diagnostics"].as_array().unwrap();
    let nope = faults.iter().find(|fault| fault["code"] == "undefined-variable").unwrap();
    assert_eq!(nope["range"]["start"], json!({ "line": 5, "character": 22 }), "{nope:#}");
}

#[test]
fn a_request_about_an_outdated_text_is_refused() {
    let mut editor = Editor::new();
    editor.types(FLOW);
    assert!(!editor.asks("symbols", (0, 0)).as_array().unwrap().is_empty());
    editor.tick -= 1;
    let fields = json!({ "path": editor.path(), "tick": editor.tick, "method": "symbols" });
    assert_eq!(editor.world.call("assist", fields)["err"]["code"], "outdated");
    editor.tick += 1;
    editor.world.call("document-closed", json!({ "path": editor.path() }));
    let fields = json!({ "path": editor.path(), "tick": editor.tick, "method": "symbols" });
    assert_eq!(editor.world.call("assist", fields)["err"]["code"], "outdated");
}

#[test]
fn a_large_text_is_checked_on_a_thread_and_only_the_newest_counts() {
    let mut editor = Editor::new();
    // The project is cached from here on.
    editor.types(FLOW);
    let mut text = FLOW.replace("humn", "human").replace(", {name: epic}", "");
    for stage in 0..1500 {
        text.push_str(&format!(
            "  - agent: spec-kit\n    name: stage-{stage}\n    description: Some words\n"
        ));
    }
    for round in 0..20 {
        let answer = editor.types(&format!("{text}# {round}\n"));
        assert_eq!(answer["pending"], true);
    }
    let newest = editor.types(&text.replace("human", "humn"));
    assert_eq!(newest["pending"], true);
    let event = loop {
        let event = editor.event("diagnostics");
        assert!(event["tick"].as_i64().unwrap() <= editor.tick);
        if event["tick"] == editor.tick {
            break event;
        }
    };
    assert_eq!(event["diagnostics"][0]["code"], "unknown-gate");
    assert_eq!(event["path"], json!(editor.path()));
    let hover = editor.asks("hover", (5, 12));
    assert!(hover["contents"]["value"].as_str().unwrap().contains("Writes"));
}

#[test]
fn a_text_that_takes_many_parses_is_checked_on_a_thread() {
    let mut editor = Editor::new();
    let mut text = FLOW.to_owned();
    while text.len() < 60_000 {
        text.push_str("  - agent: spec-kit\n    description: Some words\n");
    }
    assert!(editor.types(&text)["diagnostics"].is_array(), "what is only long is checked at once");
    text.push_str(&"  - agent: [qa\n    description: \"Some words\n    when: a: b: c\n".repeat(8));
    assert_eq!(editor.types(&text)["pending"], true);
    let event = editor.event("diagnostics");
    assert!(event["diagnostics"].as_array().unwrap().len() > 5, "{event:#}");
}

#[test]
fn the_number_of_diagnostics_is_bounded() {
    let mut editor = Editor::new();
    let text = format!("{FLOW}{}", "  - agnt: x\n    gte: y\n    whn: z\n".repeat(1500));
    let answer = editor.types(&text);
    let answer = if answer["pending"] == true { editor.event("diagnostics") } else { answer };
    let all = answer["diagnostics"].as_array().unwrap();
    assert!((100..=201).contains(&all.len()), "{}", all.len());
    assert!(all.iter().any(|fault| fault["severity"] == 4), "it is said that there are more");
}

#[test]
fn a_file_that_is_no_utf8_or_too_large_is_said_to_be() {
    let mut editor = Editor::new();
    let clean = "name: flow\ndescription: d\nversion: \"1\"\nstages: [{agent: qa}]\n";
    assert_eq!(editor.codes(clean), [""; 0]);
    editor.tick += 1;
    let fields = json!({ "path": editor.path(), "text": clean, "tick": editor.tick, "encoding": "latin1" });
    let answer = editor.world.ok("document", fields);
    assert_eq!(answer["diagnostics"][0]["code"], "yaml-syntax");
    editor.tick += 1;
    let fields = json!({ "path": editor.path(), "text": "", "tick": editor.tick, "bytes": 3_000_000 });
    let answer = editor.world.ok("document", fields);
    assert_eq!(answer["diagnostics"].as_array().unwrap().len(), 1);
    assert_eq!(answer["diagnostics"][0]["code"], "limit");
}

#[test]
fn a_name_that_another_file_has_is_warned_about() {
    let mut editor = Editor::new();
    let clean = "name: flow\ndescription: d\nversion: \"1\"\nstages: [{agent: qa}]\n";
    editor.world.write(".claude/superpowers/flow.yaml", clean);
    editor.world.write(".claude/superpowers/team/flow.yaml", clean);
    let answer = editor.types(clean);
    assert_eq!(answer["diagnostics"][0]["code"], "duplicate-superpower", "{answer:#}");
    assert!(answer["diagnostics"][0]["message"].as_str().unwrap().contains("team/flow.yaml"));
    let check = editor.world.ok("check", json!({ "path": editor.path() }));
    assert_eq!(check["diagnostics"][0]["code"], "duplicate-superpower");
}

#[test]
fn a_change_of_the_project_sends_an_event() {
    // Waits for the thread that reads the project.
    alone("documents::a_change_of_the_project_sends_an_event", &[], a_change_is_told_once);
}

fn a_change_is_told_once() {
    let mut editor = Editor::new();
    let text = "name: flow\ndescription: d\nversion: \"1\"\nstages: [{agent: writer}]\n";
    assert_eq!(editor.codes(text), ["unknown-agent"]);
    editor.world.write(".claude/agents/deep/writer.md", "---\ndescription: New\n---\n");
    editor.world.ok("project-renew", json!({}));
    assert_eq!(editor.event("project-changed")["root"], json!(editor.world.root()));
    assert_eq!(editor.codes(text), [""; 0]);
    until_no_thread_is("superpower-project");
    editor.world.events();
    editor.world.ok("project-renew", json!({}));
    until_no_thread_is("superpower-project");
    let events = editor.world.events();
    assert!(events.iter().all(|event| event["type"] != "project-changed"), "nothing is new: {events:?}");
}

#[test]
fn the_first_text_of_a_project_does_not_wait_for_the_disk() {
    let editor = Editor::new();
    let text = "name: flow\ndescription: d\nversion: \"1\"\nstages: [{agent: nobody}]\n";
    let said = editor.world.ok("document", json!({ "path": editor.path(), "text": text, "tick": 1 }));
    assert_eq!(said, json!({ "tick": 1, "pending": true }));
    let event = editor.event("diagnostics");
    assert_eq!((&event["tick"], &event["path"]), (&json!(1), &json!(editor.path())));
    assert_eq!(event["diagnostics"][0]["code"], "unknown-agent", "it is held against what was read");
    let said = editor.world.ok("document", json!({ "path": editor.path(), "text": text, "tick": 2 }));
    assert_eq!(said["diagnostics"], event["diagnostics"], "what is read already is answered at once");
}

#[test]
fn the_project_is_read_again_while_the_user_types() {
    let mut editor = Editor::new();
    let text = "name: flow\ndescription: d\nversion: \"1\"\nstages: [{agent: writer}]\n";
    assert_eq!(editor.codes(text), ["unknown-agent"]);
    editor.world.write(".claude/agents/writer.md", "---\ndescription: New\n---\n");
    let end = Instant::now() + Duration::from_secs(20);
    while !editor.codes(text).is_empty() {
        assert!(Instant::now() < end, "the new agent is not seen");
        std::thread::sleep(Duration::from_millis(100));
    }
    editor.event("project-changed");
}

#[test]
fn hints_match_the_plan() {
    let mut editor = Editor::new();
    editor.world.write("docs/stories/a.md", "---\nui: true\n---\n");
    let text = "name: flow\ndescription: d\nversion: \"1\"
inputs: [{name: mode, default: full}, {name: who, required: true}]
stages:
  - agent: qa
    when: story.ui_true
  - agent: qa
    when: '{{mode}} != full'
  - gate: human-approval
    when: story.ui_true
  - agent: qa
    when: branch.not_spike && identity.tokens_missing
  - agent: qa
    when: '{{who}} == me'
  - agent: qa
";
    editor.world.write(".claude/superpowers/flow.yaml", text);
    assert_eq!(editor.codes(text), [""; 0]);
    let plan = editor.world.ok("plan", json!({ "name": "flow" }));
    let what: Vec<_> =
        plan["stages"].as_array().unwrap().iter().map(|it| it["what"].as_str().unwrap()).collect();
    assert_eq!(what, ["run", "skip", "?", "?", "skip", "run"]);
    let hints = editor.asks("hints", (0, 0));
    let labels: Vec<_> = hints.as_array().unwrap().iter().map(|it| it["label"].as_str().unwrap()).collect();
    assert_eq!(
        labels,
        [
            "would run: docs/stories/a.md has ui: true",
            "would skip: mode is \"full\"",
            "would ask as of now: docs/stories/a.md has ui: true",
            "would run as of now: no git repository, docs/design/identity/tokens.jso…",
            "depends on who",
        ]
    );
    let lines: Vec<_> =
        hints.as_array().unwrap().iter().map(|it| it["position"]["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [5, 7, 9, 11, 13]);
    // The hints stay in a broken text; with another number of stages they would be at the wrong stages.
    editor.types(&text.replace("version", "versio"));
    assert_eq!(editor.asks("hints", (0, 0)).as_array().unwrap().len(), 5);
    editor.types(&format!("{}  - agent:\n", text.replace("version", "versio")));
    assert_eq!(editor.asks("hints", (0, 0)), json!([]));
}

#[test]
fn fixes_of_the_line_follow_those_at_the_cursor() {
    let mut editor = Editor::new();
    editor.types("name: flow\ndescription: d\nversion: \"1\"\nstages:\n  - {agnt: qa, gat: auto}\n");
    let titles = |place| {
        let all = editor.asks("actions", place);
        let title = |action: &Value| action["title"].as_str().unwrap().to_owned();
        all.as_array().unwrap().iter().map(title).collect::<Vec<_>>()
    };
    let (first, second) = (titles((4, 6)), titles((4, 17)));
    assert_eq!(first.len(), second.len());
    assert!(first.len() >= 2 && first[0] != second[0], "{first:?} {second:?}");
    let edit = editor.asks("actions", (4, 6))[0]["edit"]["documentChanges"][0].clone();
    assert_eq!(edit["textDocument"]["version"], editor.tick);
}

#[test]
fn an_invalid_new_name_is_refused_with_the_reason() {
    let mut editor = Editor::new();
    editor.types(FLOW);
    let rename = |name: &str| {
        let fields = json!({ "path": editor.path(), "tick": editor.tick, "method": "rename",
            "position": [6, 11], "new_name": name });
        editor.world.call("assist", fields)
    };
    assert_eq!(rename("Not This")["err"]["code"], "not-renamed");
    assert_eq!(answer(rename("think"))["documentChanges"][0]["edits"].as_array().unwrap().len(), 1);
}

#[test]
fn a_long_text_is_sent_in_parts() {
    let mut editor = Editor::new();
    let (first, rest) = FLOW.split_at(FLOW.find("stages:").unwrap());
    let part = |editor: &Editor, tick: i64, first: bool, text: &str| {
        let fields = json!({ "path": editor.path(), "tick": tick, "first": first, "text": text });
        editor.world.call("document-part", fields)
    };
    let whole = |editor: &Editor, tick: i64, text: &str| {
        let fields = json!({ "path": editor.path(), "tick": tick, "text": text, "parts": true });
        editor.world.call("document", fields)
    };
    let (middle, last) = rest.split_at(20);
    let expected = editor.types(FLOW)["diagnostics"].clone();
    part(&editor, 5, true, "of an older text");
    part(&editor, 6, true, first);
    assert_eq!(part(&editor, 5, false, "of an older text")["err"]["code"], "outdated");
    part(&editor, 6, false, middle);
    assert_eq!(whole(&editor, 6, last)["ok"]["diagnostics"], expected);
    assert_eq!(whole(&editor, 7, last)["err"]["code"], "outdated", "each part counts once");
}

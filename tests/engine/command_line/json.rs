//! `--json`: an object for a question, and one a line for what takes time.

use super::Shell;
use serde_json::{Value, json};

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn what_takes_time_is_told_as_events_and_how_it_stopped() {
    let shell = Shell::new();
    let done = shell.expect(3, &["--json", "run", "small", "epic=x"]);
    assert_eq!(done.err, "", "what is said is said as an event");
    let events = lines(&done.out);
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    for kind in
        ["run-started", "stage-started", "stage-finished", "gate-opened", "run-paused", "log", "notice"]
    {
        assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
    }
    assert!(!kinds.contains(&"snapshot"));
    let said: Vec<&str> = events.iter().filter_map(|event| event["line"].as_str()).collect();
    assert_eq!(said[0], "[superpower] LOADED  small  v1.0.0  stages=3");
    let run_id = &events[0]["run_id"];
    let mut last = events.last().unwrap().clone();
    let summary = last["summary"].take();
    assert_eq!(summary, "waits at gate 2/3: :Superpower gate");
    let expected = json!({
        "type": "stopped", "run_id": run_id, "state": "paused", "reason": "gate", "detail": null, "summary": null,
        "status": 3,
    });
    assert_eq!(last, expected);
    let done = shell.expect(0, &["approve", "--json"]);
    assert_eq!(lines(&done.out).last().unwrap()["state"], "complete");
}

#[test]
fn a_refusal_is_an_object_with_a_code() {
    let shell = Shell::new();
    let done = shell.expect(2, &["--json", "run", "smal"]);
    assert_eq!(done.err, "");
    let refused = &lines(&done.out)[0]["err"];
    assert_eq!(refused["code"], "unknown-superpower");
    assert_eq!(refused["data"]["names"], json!(["small"]));
    let done = shell.expect(2, &["--json", "changes"]);
    assert_eq!(lines(&done.out)[0]["err"]["code"], "usage");
}

#[test]
fn each_question_has_an_object() {
    let shell = Shell::new();
    assert_eq!(shell.ask(&["status"]), json!({ "run": null }));
    assert_eq!(shell.ask(&["runs"]), json!({ "runs": [] }));
    assert_eq!(shell.ask(&["list"])["superpowers"][0]["name"], "small");
    assert_eq!(shell.ask(&["plan", "small", "epic=x"])["stages"][1]["what"], "ask");
    assert_eq!(shell.ask(&["check"])["files"][0]["diagnostics"][0]["code"], "unknown-agent");
    assert_eq!(shell.ask(&["schema"])["title"], "superpower");
    shell.expect(3, &["run", "small", "epic=x"]);
    assert_eq!(shell.ask(&["status"])["run"]["reason"], "gate");
    assert_eq!(shell.ask(&["runs"])["runs"][0]["about"], "x");
    assert_eq!(shell.ask(&["why", "2"])["stage"], 2);
    assert_eq!(shell.ask(&["log"])["lines"][0], "[superpower] LOADED  small  v1.0.0  stages=3");
    assert_eq!(shell.ask(&["diff"])["stage"], 2);
}

#[test]
fn nothing_in_an_object_controls_the_terminal() {
    let shell = Shell::new();
    shell.expect(3, &["run", "small", "epic=a\u{202e}b\u{9b}c"]);
    let done = shell.expect(0, &["--json", "runs"]);
    assert!(done.out.contains("\\u202e") && !done.out.contains('\u{202e}') && !done.out.contains('\u{9b}'));
    let done = shell.expect(0, &["runs"]);
    assert!(done.out.contains("<202e>") && !done.out.contains('\u{9b}'), "{}", done.out);
}

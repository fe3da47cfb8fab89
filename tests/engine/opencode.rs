//! `opencode run` and its special cases, tested with scripts that imitate it.

use super::alone::alone;
use super::launched::{ended, launch_in, start};
use superpower::harness::*;
use superpower::outcome::{Outcome, Session};

const PRELUDE: &str = r#"#!/usr/bin/env python3
import json, os, sys, time
def send(kind, **part): print(json.dumps({"type": kind, "timestamp": 1, "sessionID": "ses_1", "part": part}), flush=True)
def step(reason="stop", cost=0.25): send("step_finish", reason=reason, cost=cost, tokens={"input": 5, "output": 2, "reasoning": 1, "cache": {"read": 1, "write": 1}})
def answer(text):
    send("step_start"); send("text", text=text); step()
def option(name): return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else None
prompt = sys.stdin.read()
assert sys.argv[1:4] == ["run", "--format", "json"], sys.argv
"#;

pub fn run(script: &str, change: impl FnOnce(&mut Launch)) -> (Vec<Signal>, Ending) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("opencode");
    std::fs::write(&path, format!("{PRELUDE}{script}")).unwrap();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut harnesses = Harnesses::default();
    harnesses.named.get_mut("opencode").unwrap().cmd = vec![path.to_str().unwrap().to_owned()];
    let mut launch = launch_in(dir.path());
    change(&mut launch);
    let (_running, signals) = start("opencode", &harnesses, launch);
    ended(&signals)
}

fn agent_file(launch: &Launch, path: &str, text: &str) {
    let path = launch.root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

const TELL: &str = r#"answer(json.dumps({"agent": option("--agent"), "command": option("--command"), "session": option("--session"),
    "prompt": prompt, "config": os.environ.get("OPENCODE_CONFIG_CONTENT")}))"#;

fn told(change: impl FnOnce(&mut Launch)) -> serde_json::Value {
    let ending = run(TELL, change).1;
    assert_eq!(ending.outcome, Outcome::Passed, "{}", ending.tail);
    serde_json::from_str(&ending.message).unwrap()
}

#[test]
fn opencodes_own_agent_is_named_and_a_subagent_is_made_primary() {
    let named = told(|launch| agent_file(launch, ".opencode/agents/coder.md", "---\nmode: primary\n---\nx"));
    assert_eq!((named["agent"].as_str(), &named["config"]), (Some("coder"), &serde_json::Value::Null));
    assert_eq!(named["prompt"], "do it");
    let primary =
        told(|launch| agent_file(launch, ".opencode/agent/coder.md", "---\nmode: subagent\n---\nx"));
    assert_eq!(primary["agent"], "coder");
    assert_eq!(primary["config"], r#"{"agent":{"coder":{"mode":"primary"}}}"#);
}

#[test]
fn the_users_configuration_is_kept() {
    let users = "{\"model\": \"a/b\", // with a comment\n \"theme\": \"é// /* \\\" */,}\", /* another */ \"agent\": {\"coder\": {\"temperature\": 0.5,},},}";
    let name = "opencode::the_users_configuration_is_kept";
    alone(name, &[("OPENCODE_CONFIG_CONTENT", users)], || {
        let told =
            told(|launch| agent_file(launch, ".opencode/agents/coder.md", "---\nmode: subagent\n---\nx"));
        let expected = r#"{"model":"a/b","theme":"é// /* \" */,}","agent":{"coder":{"temperature":0.5,"mode":"primary"}}}"#;
        assert_eq!(told["config"], expected);
    });
}

#[test]
fn an_agent_that_only_claude_has_is_given_by_text() {
    let told = told(|launch| {
        agent_file(launch, ".claude/agents/coder.md", "---\nname: coder\n---\nYou write code.")
    });
    assert_eq!(told["agent"], serde_json::Value::Null);
    let prompt = told["prompt"].as_str().unwrap();
    assert!(prompt.contains("You write code.") && prompt.ends_with("do it"), "{prompt}");
}

#[test]
fn a_skill_is_a_command_and_a_session_is_continued() {
    let told = told(|launch| {
        launch.task = Task::Skill("write-spec".to_owned());
        launch.session = Some(Session { harness: "opencode".to_owned(), id: "ses_0".to_owned() });
    });
    assert_eq!((told["command"].as_str(), told["session"].as_str()), (Some("write-spec"), Some("ses_0")));
}

#[test]
fn the_silent_fallback_is_avoided_or_ends_the_run() {
    let unknown = run(
        "print('\\x1b[93m! \\x1b[0magent \"coder\" not found. Falling back to default agent', file=sys.stderr, flush=True)\ntime.sleep(9)\nanswer('as somebody else')",
        |_| {},
    );
    let Outcome::FailedForGood { why } = unknown.1.outcome else { panic!("{:?}", unknown.1.outcome) };
    assert!(why.contains("no agent \"coder\""), "{why}");
    let configured = r#"
if "OPENCODE_CONFIG_CONTENT" in os.environ: answer("as coder")
else:
    print('! agent "coder" is a subagent, not a primary agent. Falling back to default agent', file=sys.stderr, flush=True)
    time.sleep(9)
"#;
    assert_eq!(run(configured, |_| {}).1.message, "as coder");
}

#[test]
fn a_missing_session_is_replaced_by_a_new_one() {
    let script = r#"
if option("--session"):
    print("Session not found", file=sys.stderr); sys.exit(1)
answer("fresh")
"#;
    let session = Session { harness: "opencode".to_owned(), id: "ses_0".to_owned() };
    let (before, ending) = run(script, |launch| launch.session = Some(session));
    assert_eq!(ending.message, "fresh");
    let told = |s: &Signal| matches!(s, Signal::Progress(Progress::Note { text }) if text.contains("starting a new one"));
    assert!(before.iter().any(told));
    assert_eq!((ending.usage.tokens, ending.usage.cost), (Some(10), Some(0.25)));
}

#[test]
fn a_stream_that_is_cut_repeatedly_ends_the_launch() {
    let script = "while True:\n    send('step_start'); step('unknown'); time.sleep(0.05)";
    assert!(matches!(run(script, |_| {}).1.outcome, Outcome::Transient { .. }));
}

//! Failures that a retry cannot change are permanent: programs that are too old, unknown names and options, an agent's
//! own budget, results that are too long.

use super::claude::{PRELUDE, scripted};
use super::launched::{ended, launch_in, start};
use super::opencode_server::play;
use crate::stage::{Stage, over};
use crate::world::World;
use serde_json::json;
use std::path::Path;
use std::time::Duration;
use superpower::harness::*;
use superpower::outcome::Outcome;

fn claude(script: &str, change: impl FnOnce(&Path, &mut Harnesses, &mut Launch)) -> (Vec<Signal>, Ending) {
    let dir = tempfile::tempdir().unwrap();
    let mut harnesses = scripted(dir.path(), script);
    let mut launch = launch_in(dir.path());
    // On a busy machine even a script is slow.
    launch.timeout = Some(Duration::from_secs(120));
    change(dir.path(), &mut harnesses, &mut launch);
    let (_running, signals) = start("claude", &harnesses, launch);
    ended(&signals)
}

fn for_good(ending: &Ending) -> &str {
    match &ending.outcome {
        Outcome::FailedForGood { why } => why,
        other => panic!("{other:?}"),
    }
}

fn starts(signals: &[Signal]) -> usize {
    signals.iter().filter(|signal| matches!(signal, Signal::Started(Some(_)))).count()
}

fn notes(signals: &[Signal]) -> String {
    let note = |signal: &Signal| match signal {
        Signal::Progress(Progress::Note { text }) => Some(format!("{text}\n")),
        _ => None,
    };
    signals.iter().filter_map(note).collect()
}

/// A release without `--agent`, such as 2.0.3: only the agent's text can be used.
const OLD: &str = r#"
if "--agent" in sys.argv:
    print("error: unknown option '--agent'", file=sys.stderr)
    sys.exit(1)
prompt = init(agents=())
result(prompt)
rest()
"#;

fn coder(dir: &Path) {
    std::fs::create_dir_all(dir.join(".claude/agents")).unwrap();
    std::fs::write(dir.join(".claude/agents/coder.md"), "---\nname: coder\n---\nYou write code.\n").unwrap();
}

#[test]
fn a_release_without_the_agent_option_gets_the_agents_text() {
    let (before, ending) = claude(OLD, |dir, _, _| coder(dir));
    assert_eq!(ending.outcome, Outcome::Passed);
    assert!(
        ending.message.contains("You write code.") && ending.message.contains("do it"),
        "{}",
        ending.message
    );
    assert!(notes(&before).contains("has no \"--agent\""), "{}", notes(&before));
    assert_eq!(starts(&before), 2);
}

#[test]
fn a_release_known_to_be_too_old_is_not_given_the_agent_option() {
    let (before, ending) = claude(OLD, |dir, harnesses, _| {
        coder(dir);
        let versions = dir.join("versions");
        std::fs::create_dir_all(&versions).unwrap();
        std::fs::rename(dir.join("claude"), versions.join("2.0.3")).unwrap();
        std::os::unix::fs::symlink(versions.join("2.0.3"), dir.join("claude")).unwrap();
        assert_eq!(harnesses.named["claude"].cmd, [dir.join("claude").to_str().unwrap()]);
    });
    assert_eq!(ending.outcome, Outcome::Passed);
    assert!(ending.message.contains("You write code."), "{}", ending.message);
    assert!(notes(&before).starts_with("Claude Code 2.0.3 lacks a feature"), "{}", notes(&before));
    assert_eq!(starts(&before), 1);
}

#[test]
fn a_new_release_gets_the_agents_name() {
    let named = "assert '--agent' in sys.argv\nprompt = init()\nresult(prompt)\nrest()\n";
    let (_, ending) = claude(named, |dir, _, _| {
        coder(dir);
        std::fs::rename(dir.join("claude"), dir.join("2.1.153")).unwrap();
        std::os::unix::fs::symlink(dir.join("2.1.153"), dir.join("claude")).unwrap();
    });
    assert_eq!((ending.outcome, &*ending.message), (Outcome::Passed, "do it"));
}

#[test]
fn an_old_release_without_the_agents_text_fails_for_good() {
    let (before, ending) = claude(OLD, |_, _, _| {});
    let why = for_good(&ending);
    assert!(why.contains("has no \"--agent\"") && why.contains("2.0.59 or later"), "{why}");
    assert_eq!(starts(&before), 1);
}

#[test]
fn a_refused_command_line_fails_for_good() {
    let refuses = |said: &str| format!("print({said:?}, file=sys.stderr)\nsys.exit(1)\n");
    for said in [
        "error: unknown option '--session-id'",
        "error: unknown option '--my-own'",
        "error: option '--max-turns <n>' argument 'x' is invalid.",
        "--agent 'coder' not found. Available agents: claude, Explore",
        "Error: Invalid session ID. Must be a valid UUID.",
    ] {
        let own = |_: &Path, harnesses: &mut Harnesses, _: &mut Launch| {
            harnesses.named.get_mut("claude").unwrap().args = vec!["--my-own=1".to_owned()];
        };
        let (before, ending) = claude(&refuses(said), own);
        let why = for_good(&ending);
        assert_eq!(why.contains("harnesses.claude.args"), said.contains("--my-own"), "{why}");
        assert_eq!(starts(&before), 1, "{said}");
    }
    let (_, ending) = claude(&refuses("Error: the disk is on fire"), |_, _, _| {});
    assert!(matches!(ending.outcome, Outcome::Failed { .. }), "{ending:?}");
}

#[test]
fn an_unknown_agent_or_model_fails_for_good() {
    let (_, ending) = claude("init(agents=['other'])\nrest()\n", |_, _, _| {});
    assert!(for_good(&ending).starts_with("Claude Code has no agent \"coder\""));
    let model = r#"init()
send(type="assistant", error="model_not_found", message={"id": "m", "content": []})
send(type="result", subtype="success", is_error=True, api_error_status=404, result="There's an issue with the selected model (nosuch)", num_turns=1)
rest()
"#;
    assert!(for_good(&claude(model, |_, _, _| {}).1).contains("selected model"));
    let served = play("agents = [{'name': 'other', 'mode': 'primary'}]\ndef work(body): done()", |_, _| {});
    assert!(for_good(&ended(&served.signals).1).starts_with("OpenCode has no agent \"coder\""));
}

#[test]
fn a_model_unknown_to_opencode_fails_before_the_prompt() {
    let providers = r#"
GET = Handler.do_GET
def do_GET(self):
    if self.path != "/config/providers": return GET(self)
    self.note(); self.reply({"providers": [{"id": "fake", "models": {"m": {}, "a/b": {}}}], "default": {}})
Handler.do_GET = do_GET
def work(body): done()
"#;
    for model in ["fake/nosuch", "other/m"] {
        let served = play(providers, |_, args| args.extend(["--model".to_owned(), model.to_owned()]));
        let why = for_good(&ended(&served.signals).1).to_owned();
        assert!(why.starts_with(&format!("OpenCode has no model \"{model}\"")), "{why}");
    }
    for model in ["fake/m", "fake/a/b"] {
        let served = play(providers, |_, args| args.extend(["--model".to_owned(), model.to_owned()]));
        assert_eq!(ended(&served.signals).1.outcome, Outcome::Passed, "{model}");
    }
    // A release that does not list its models gets the prompt too.
    let served = play("def work(body): done()", |_, args| args.extend(["--model=fake/m".to_owned()]));
    assert_eq!(ended(&served.signals).1.outcome, Outcome::Passed);
}

#[test]
fn an_agents_own_spending_cap_fails_for_good() {
    let capped = r#"init()
send(type="result", subtype="error_max_budget_usd", is_error=True, errors=["Reached maximum budget ($0.06)"], num_turns=2)
rest()
"#;
    assert_eq!(for_good(&claude(capped, |_, _, _| {}).1), "Reached maximum budget ($0.06)");
}

#[test]
fn a_result_that_is_too_long_is_not_retried() {
    let long = "init()\nresult('x' * (9 << 20))\nrest()\n";
    let (before, ending) = claude(long, |_, _, _| {});
    assert!(for_good(&ending).starts_with("the result is too long: more than 8 MiB"), "{ending:?}");
    assert_eq!(starts(&before), 1);
    // Real results do not start with their type.
    let late = "init()\nprint('{\"duration_api_ms\":7,\"num_turns\":1,\"result\":\"' + 'x' * (9 << 20) + '\",\"type\":\"result\"}', flush=True)\nrest()\n";
    assert!(for_good(&claude(late, |_, _, _| {}).1).starts_with("the result is too long"));
    // Other lines may have any length.
    let tool = "init()\ntool('t1', 'Bash', command='ls')\nresult_of('t1', 'x' * (9 << 20))\nresult('fine')\nrest()\n";
    let (before, ending) = claude(tool, |_, _, _| {});
    assert_eq!((ending.outcome, &*ending.message), (Outcome::Passed, "fine"));
    assert!(notes(&before).contains("a line was cut"), "{}", notes(&before));
    let served = play("def work(body): done('x' * (9 << 20))", |_, _| {});
    assert!(for_good(&ended(&served.signals).1).starts_with("the answer is too long"));
}

#[test]
fn a_verdict_at_the_end_of_a_cut_line_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let mut harnesses = Harnesses::default();
    let script = "head -c 9000000 /dev/zero | tr '\\0' x; echo '{\"verdict\":\"FAIL\"}'";
    harnesses.named.get_mut("command").unwrap().cmd = ["sh", "-c", script].map(str::to_owned).to_vec();
    let (_running, signals) = start("command", &harnesses, launch_in(dir.path()));
    let ending = ended(&signals).1;
    assert_eq!(superpower::driver::verdict::verdict(&ending.message).word(), Some("FAIL"));
}

#[test]
fn a_permanent_failure_uses_no_further_attempt() {
    let why = "no such agent".to_owned();
    let stage = Stage::ending(vec![Outcome::FailedForGood { why }]);
    let handle = stage.start("  - {agent: a, max_attempts: 3}\n");
    let picture = over(&handle);
    assert_eq!((&picture["state"], &picture["reason"]), (&json!("paused"), &json!("failed")));
    assert_eq!(stage.launches(&handle.run_id), 1);
    assert!(stage.log().iter().any(|line| line.contains("attempt 1/3: no such agent")), "{:?}", stage.log());
    assert_eq!(
        over(&stage.resume(&handle.run_id))["state"],
        "complete",
        "a human may have changed something"
    );
}

/// Nothing that lists, opens or checks starts an agent's program, whatever its release.
#[test]
fn health_starts_no_program() {
    let world = World::new();
    world.write(
        "bin/claude",
        &format!("{PRELUDE}\nopen(os.path.join(os.path.dirname(sys.argv[0]), 'started'), 'w')\n"),
    );
    world.executable("bin/claude");
    world.configure(
        json!({ "harness": "claude", "harnesses": { "claude": { "cmd": [world.path("bin/claude")] } } }),
    );
    world.declare("one", "stages:\n  - {agent: a}\n");
    for op in ["health", "list", "runs", "status"] {
        world.call(op, json!({}));
    }
    world.call("check", json!({ "path": world.path(".claude/superpowers/one.yaml") }));
    world.call("preview", json!({ "name": "one", "inputs": {} }));
    assert!(!world.path("bin/started").exists());
}

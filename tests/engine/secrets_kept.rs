//! SPEC section 11: what the environment holds in secret is in no file and no window of ours, whoever says it.
//!
//! The test binary starts itself with real variables: `child` below.

use crate::world::{STATE, World};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const PROJECT: &str = "SUPERPOWER_SECRETS_PROJECT";
const TOKEN: &str = "tok-\"with\\quotes\"-4711";
const KEY: &str = "sk-live-0123456789";

const STAGES: &str = "inputs: [{name: note}]
stages:
  - {agent: leaky, description: 'Leak {{note}}', max_attempts: 1}
  - {gate: human-approval}
  - {agent: leaky, max_attempts: 1}
";

/// Not a test: the editor that has the secrets, where the environment says so.
#[test]
fn child() {
    let Some(root) = std::env::var_os(PROJECT) else { return };
    let world = World::at(Path::new(&root));
    world.declare("leak", STAGES);
    // The cuts: the end of what is printed, of what goes to standard error, of a message; a line that is too long.
    world.hook(
        "many() { head -c $1 /dev/zero | tr '\\0' y; echo; }
if [ \"$1\" = cut ]; then
printf '%s' \"$MY_SERVICE_KEY\" >&2; many 2040 >&2
printf '%s' \"$MY_SERVICE_KEY\"; many 1048566
printf '%s' \"$MY_SERVICE_KEY\"; many 2040
many 8380400 | tr -d '\\n'; printf '%s' \"$MY_SERVICE_KEY\"; many 2040
printf '%s' \"$MY_SERVICE_KEY\"; many 4086
exit 1; fi
printf '%s\\n' \"$MY_SERVICE_KEY\" \"$MY_SERVICE_TOKEN\"; echo \"oops $MY_SERVICE_KEY\" >&2
mkdir -p \"in-$MY_SERVICE_KEY\"; echo 1 > \"in-$MY_SERVICE_KEY/a-$MY_SERVICE_KEY.txt\"
printf '%s' sk-live-; sleep 0.05; printf '%s\\n' 0123456789
[ -e asked ] || { : > asked; echo \"is $MY_SERVICE_TOKEN right?\"; exit 2; }",
    );
    let mut shown = Vec::new();
    world.declare("cut", "stages: [{agent: cut, max_attempts: 1}]\n");
    world.run("cut", json!({}));
    assert_eq!(world.settled()["reason"], "failed");
    let long = "c".repeat(32 * 1024 - 9);
    world.ok("retry", json!({ "comment": format!("{long}{KEY}") }));
    assert_eq!(world.settled()["reason"], "failed");
    shown.push(world.status());
    world.ok("cancel", json!({}));
    assert_eq!(world.settled()["state"], "cancelled");
    world.run("leak", json!({ "note": KEY }));
    assert_eq!(world.settled()["reason"], "needs-human");
    shown.push(world.status());
    world.ok("retry", json!({ "comment": format!("use {KEY} and {TOKEN}") }));
    assert_eq!(world.settled()["reason"], "gate");
    let review = world.ok("review", json!({}));
    // A name is masked like any other text; the file can be looked at all the same.
    let listed = "in-***/a-***.txt";
    assert!(review["files"].as_array().unwrap().iter().any(|file| file["path"] == listed), "{review}");
    let diff = world.ok("diff", json!({ "path": listed }));
    assert_eq!(diff["after_path"], json!(world.path(&format!("in-{KEY}/a-{KEY}.txt"))));
    shown.push(review);
    shown.push(world.ok("why", json!({ "stage": 1 })));
    world.ok("decide", json!({ "decision": "approve", "comment": TOKEN, "by": KEY }));
    assert_eq!(world.settled()["state"], "complete");
    shown.push(world.status());
    shown.push(world.ok("runs", json!({})));
    shown.extend(world.events());
    fs::write(Path::new(&root).join("shown"), Value::Array(shown).to_string()).unwrap();
}

fn files(dir: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
}

#[test]
fn no_secret_reaches_a_file_or_a_window() {
    let world = World::new();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "secrets_kept::child", "--nocapture", "--test-threads=1"])
        .env(PROJECT, world.root())
        .env(STATE, world.state_dir())
        .env("MY_SERVICE_KEY", KEY)
        .env("MY_SERVICE_TOKEN", TOKEN)
        .env("SHORT_KEY", "abc")
        .env_remove("SUPERPOWER_RUN_ID")
        .stdout(Stdio::null())
        .status();
    assert!(status.unwrap().success());
    let mut all = vec![("windows".to_owned(), world.read("shown").into_bytes())];
    files(&world.path(".claude/state"), &mut all);
    files(&world.path(".claude/logs"), &mut all);
    assert!(all.len() > 10);
    let json = serde_json::to_string(TOKEN).unwrap();
    let mut masked = 0;
    for (path, bytes) in &all {
        let text = String::from_utf8_lossy(bytes);
        for secret in [KEY, &KEY[..8], &KEY[10..], TOKEN, json.trim_matches('"')] {
            assert!(!text.contains(secret), "{path} holds \"{secret}\":\n{text}");
        }
        masked += usize::from(text.contains("***"));
    }
    assert!(masked >= 5, "they were there to be masked: {masked}");
    let mut journals = all.iter().filter(|(path, _)| path.ends_with("journal.jsonl"));
    assert!(journals.any(|(_, journal)| String::from_utf8_lossy(journal).contains("use *** and ***")));
    // The agent itself was told what it was to be told.
    assert!(world.read(".prompt").contains("What the reviewer said"), "{}", world.read(".prompt"));
}

const HIDDEN: &str = "inputs: [{name: note}, {name: plain}]
stages:
  - {agent: a, description: 'Do {{note}}'}
  - {gate: human-approval}
  - {agent: b, inputs: {own: 'with {{note}}'}}
";
const WHAT: &str = "SUPERPOWER_SECRETS_VERB";

/// Not a test: an editor that begins such a run, or goes on with it.
#[test]
fn editor() {
    let (Some(root), Ok(what)) = (std::env::var_os(PROJECT), std::env::var(WHAT)) else { return };
    let world = World::at(Path::new(&root));
    if what == "run" {
        world.declare("hide", HIDDEN);
        world.run("hide", json!({ "note": format!("{KEY}, then {TOKEN}"), "plain": "*** stays" }));
        assert_eq!(world.settled()["reason"], "gate");
    } else {
        let answer = world.decide("approve", "");
        fs::write(Path::new(&root).join("answer"), answer.to_string()).unwrap();
        world.settled();
    }
}

fn editor_with(world: &World, what: &str, environment: &[(&str, &str)]) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "secrets_kept::editor", "--nocapture", "--test-threads=1"]);
    command.env(PROJECT, world.root()).env(STATE, world.state_dir()).env(WHAT, what).stdout(Stdio::null());
    // Another test of this process may have set one of them.
    for name in ["SUPERPOWER_RUN_ID", "MY_SERVICE_KEY", "MY_SERVICE_TOKEN"] {
        command.env_remove(name);
    }
    assert!(command.envs(environment.iter().copied()).status().unwrap().success());
}

/// The journal keeps no secret, and an agent is never told "***" in the place of an input: where the value came from is
/// remembered, and where it is there no more, that is said.
#[test]
fn an_input_that_held_a_secret_is_whole_again_or_asked_for() {
    let world = World::new();
    editor_with(&world, "run", &[("MY_SERVICE_KEY", KEY), ("MY_SERVICE_TOKEN", TOKEN)]);
    assert!(world.read(".prompt").contains(&format!("- note: {KEY}, then {TOKEN}")));
    editor_with(&world, "approve", &[("MY_SERVICE_KEY", KEY)]);
    let answer: Value = serde_json::from_str(&world.read("answer")).unwrap();
    assert_eq!(answer["err"]["code"], "hidden-input", "{answer}");
    let message = answer["err"]["message"].as_str().unwrap();
    assert!(
        message.contains("\"note\"") && message.contains("MY_SERVICE_KEY, MY_SERVICE_TOKEN"),
        "{message}"
    );
    assert_eq!(world.calls(), ["a"]);
    editor_with(&world, "approve", &[("MY_SERVICE_KEY", "sk-live-9876543210"), ("MY_SERVICE_TOKEN", TOKEN)]);
    assert_eq!(world.calls(), ["a", "b"]);
    let prompt = world.read(".prompt");
    assert!(prompt.contains(&format!("- own: with sk-live-9876543210, then {TOKEN}")), "{prompt}");
    assert!(prompt.contains("- plain: *** stays"), "{prompt}");
    let run = world.status()["run_id"].as_str().unwrap().to_owned();
    let journal = world.read(&format!(".claude/state/runs/{run}/journal.jsonl"));
    assert!(journal.contains("***, then ***") && !journal.contains("sk-live"), "{journal}");
}

const WORDS: &str = "inputs:
  - {name: scope, type: enum, enum: [full, tokens-only]}
  - {name: kind}
stages:
  - {agent: a}
  - {gate: human-approval}
  - {agent: b, when: '{{scope}} == tokens-only'}
  - {agent: c, when: '{{kind}} == interrupted'}
  - {gate: human-approval, name: last, when: '{{scope}} == tokens-only'}
";

/// Not a test: an editor whose secrets are words of the program and of the declaration.
#[test]
fn worded() {
    let (Some(root), Ok(what)) = (std::env::var_os(PROJECT), std::env::var("SUPERPOWER_SECRETS_WORDS"))
    else {
        return;
    };
    let world = World::at(Path::new(&root));
    let picture = if what == "run" {
        world.declare("worded", WORDS);
        world.run("worded", json!({ "scope": "tokens-only", "kind": "interrupted" }));
        world.settled()
    } else {
        let answer = world.decide("approve", "");
        assert!(answer["ok"].is_object(), "{answer}");
        world.settled()
    };
    assert_eq!(picture["superpower"], "worded", "{picture}");
    assert_eq!(picture["stages"][0]["mark"], "passed");
    assert_eq!(picture["root"], json!(world.root()));
    let events = world.events();
    let opened = events.iter().find(|event| event["type"] == "gate-opened");
    assert!(opened.is_some() || picture["state"] == "complete", "{events:?}");
    assert!(events.iter().any(|event| event["type"] == "run-paused" || event["type"] == "run-finished"));
    fs::write(Path::new(&root).join("picture"), picture.to_string()).unwrap();
}

/// What is masked is what is shown and kept. A run does with it what it would do without.
#[test]
fn what_the_secrets_are_changes_nothing_in_a_run() {
    let world = World::new();
    let root = world.root().display().to_string();
    let names: Vec<String> = [
        "current_stage",
        "tokens-only",
        "interrupted",
        "gate-opened",
        "run-paused",
        "run-finished",
        "started_at",
        "superpower",
        "human-approval",
        "in_progress",
        &root,
    ]
    .iter()
    .map(|value| (*value).to_owned())
    .collect();
    let editor = |what: &str, with_secrets: bool| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "secrets_kept::worded", "--nocapture", "--test-threads=1"]);
        command
            .env(PROJECT, world.root())
            .env(STATE, world.state_dir())
            .env("SUPERPOWER_SECRETS_WORDS", what);
        command.env_remove("SUPERPOWER_RUN_ID").stdout(Stdio::null());
        for (at, value) in names.iter().enumerate().filter(|_| with_secrets) {
            command.env(format!("WORD_{at}_KEY"), value);
        }
        assert!(command.status().unwrap().success(), "{what}");
        serde_json::from_str::<Value>(&world.read("picture")).unwrap()
    };
    assert_eq!(editor("run", true)["gate"]["id"], "2.1");
    let picture = editor("approve", true);
    assert_eq!(picture["gate"]["id"], "5.1", "{picture}");
    assert_eq!((&picture["current_stage"], &picture["reason"]), (&json!(5), &json!("gate")));
    assert_eq!(world.calls(), ["a", "b", "c"]);
    assert!(world.read(".prompt").contains("- scope: tokens-only"), "{}", world.read(".prompt"));
    assert_eq!(editor("approve", true)["state"], "complete");
}

//! Secrets of the environment are in no file and no window of the plugin, wherever the text comes from.

use crate::alone::alone;
use crate::child::child;
use crate::world::World;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const TOKEN: &str = "tok-\"with\\quotes\"-4711";
const KEY: &str = "sk-live-0123456789";

const STAGES: &str = "inputs: [{name: note}]
stages:
  - {agent: leaky, description: 'Leak {{note}}', max_attempts: 1}
  - {gate: human-approval}
  - {agent: leaky, max_attempts: 1}
";

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
    let environment = [("MY_SERVICE_KEY", KEY), ("MY_SERVICE_TOKEN", TOKEN), ("SHORT_KEY", "abc")];
    alone("secrets_kept::no_secret_reaches_a_file_or_a_window", &environment, no_secret_is_told);
}

fn no_secret_is_told() {
    let world = World::new();
    world.declare("leak", STAGES);
    // Texts are cut in several places: the tail of the output and of standard error, a message, and a line that is too long.
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
    // A file name is masked like any other text, and the file can still be opened.
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
    let mut all = vec![("windows".to_owned(), Value::Array(shown).to_string().into_bytes())];
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
    // The agent's own prompt is not masked.
    assert!(world.read(".prompt").contains("What the reviewer said"), "{}", world.read(".prompt"));
}

fn editor_with(world: &World, what: &str, environment: &[(&str, &str)]) {
    let mut command = child("secrets-hidden");
    command.arg(what).arg(world.root()).arg(world.state_dir());
    assert!(command.envs(environment.iter().copied()).status().unwrap().success());
}

/// The journal contains no secret, and a prompt never has "***" in place of one. The journal records which variable a
/// value came from. If a variable is gone, the run is not continued and the message names it.
#[test]
fn a_masked_input_is_restored_or_asked_for() {
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

/// Masking affects only texts that are shown or saved. It does not change what a run does.
#[test]
fn secrets_do_not_change_a_run() {
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
    let editor = |what: &str| {
        let mut command = child("secrets-words");
        command.arg(what).arg(world.root()).arg(world.state_dir());
        for (at, value) in names.iter().enumerate() {
            command.env(format!("WORD_{at}_KEY"), value);
        }
        assert!(command.status().unwrap().success(), "{what}");
        serde_json::from_str::<Value>(&world.read("picture")).unwrap()
    };
    assert_eq!(editor("run")["gate"]["id"], "2.1");
    let picture = editor("approve");
    assert_eq!(picture["gate"]["id"], "5.1", "{picture}");
    assert_eq!((&picture["current_stage"], &picture["reason"]), (&json!(5), &json!("gate")));
    assert_eq!(world.calls(), ["a", "b", "c"]);
    assert!(world.read(".prompt").contains("- scope: tokens-only"), "{}", world.read(".prompt"));
    assert_eq!(editor("approve")["state"], "complete");
}

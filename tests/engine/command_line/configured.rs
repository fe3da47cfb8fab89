//! `config.json`, and what an editor has chosen.

use super::Shell;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

#[test]
fn what_is_wrong_in_the_file_is_refused_at_its_place() {
    let shell = Shell::new();
    for (text, said) in [
        ("{ \"harnes\": \"x\" }", "config.json: harnes: unknown option (did you mean \"harness\"?)"),
        ("{ \"trust\": \"maybe\" }", "config.json: trust: expected \"ask\" or \"always\", got \"maybe\""),
        ("{ \"progress\": { \"widht\": 1 } }", "progress.widht: unknown option (did you mean \"width\"?)"),
        ("{ \"prompt\": \"x\" }", "a function is in an editor's configuration"),
        ("[]", "config.json: expected an object"),
        ("{ \"harness\": }", "config.json: "),
    ] {
        shell.write_config(text);
        let done = shell.expect(2, &["run", "small", "epic=x"]);
        assert!(done.err.contains(said), "{text}: {}", done.err);
        assert_eq!(done.out, "");
    }
    assert!(!shell.world.path(".claude/state").exists());
    for text in ["", "// nothing\n", "{}", "{ \"icons\": \"ascii\", /* mine */ }"] {
        shell.write_config(text);
        shell.expect(0, &["list"]);
    }
}

#[test]
fn a_file_in_the_project_is_not_the_users() {
    let shell = Shell::new();
    let mut command = shell.command(&["list"]);
    let planted = shell.world.path("config");
    shell.world.write("config/superpower/config.json", "{ \"trust\": \"always\" }");
    let done = super::Done::of(command.env("XDG_CONFIG_HOME", planted).output().unwrap());
    assert_eq!(done.status, 2);
    assert!(done.err.contains("is in the project"), "{}", done.err);
    let mut command = shell.command(&["list"]);
    let done = super::Done::of(command.env("XDG_CONFIG_HOME", "config").output().unwrap());
    assert_eq!((done.status, done.err.as_str()), (0, ""), "a relative folder is not looked into");
}

/// The file that keeps what an editor has chosen.
fn kept(shell: &Shell) -> std::path::PathBuf {
    let name = format!("{}.json", superpower::store::state::project(&shell.world.root()));
    shell.world.state_dir().join("configurations").join(name)
}

#[test]
fn what_an_editor_has_chosen_comes_first_and_the_file_fills_the_rest() {
    let shell = Shell::new();
    // The world's engine is an editor that trusts everything and has a harness of its own.
    let run_id = shell.world.run("small", json!({ "epic": "x" }));
    assert_eq!(shell.world.settled()["reason"], "gate");
    let text = std::fs::read_to_string(kept(&shell)).unwrap();
    assert_eq!(std::fs::metadata(kept(&shell)).unwrap().permissions().mode() & 0o777, 0o600);
    let options: Value = serde_json::from_str::<Value>(&text).unwrap()["options"].clone();
    assert_eq!((&options["harness"], &options["timeout"]), (&json!("command"), &json!("60s")));
    let names: Vec<&String> = options.as_object().unwrap().keys().collect();
    assert!(
        !names.iter().any(|name| matches!(name.as_str(), "trust" | "idle" | "state_dir" | "headless")),
        "{names:?}"
    );

    shell.write_config("{ \"harness\": \"manual\", \"trust\": \"always\" }");
    let run = format!("run={run_id}");
    assert!(shell.expect(2, &["approve", &run]).err.contains("look at the list"));
    let approved = shell.expect(0, &["approve", &run, "answer=go-on"]);
    assert!(approved.out.contains("DISPATCH  agent=printer"), "{}", approved.out);
    assert_eq!(shell.world.calls(), ["writer", "printer"], "by the editor's harness");
    assert_eq!(std::fs::read_to_string(kept(&shell)).unwrap(), text, "the command line keeps nothing");
}

#[test]
fn trust_without_asking_is_not_taken_over() {
    let shell = Shell::new();
    shell.world.run("small", json!({ "epic": "x" }));
    shell.world.settled();
    shell.write_config("{}");
    let done = shell.expect(2, &["run", "small", "epic=y"]);
    assert!(done.err.contains("is not trusted yet"), "{}", done.err);
}

#[test]
fn options_of_another_version_are_left_out() {
    let shell = Shell::new();
    shell.world.run("small", json!({ "epic": "x" }));
    shell.world.settled();
    let text = std::fs::read_to_string(kept(&shell)).unwrap();
    std::fs::write(kept(&shell), text.replace("\"harness\":", "\"later\": 1, \"harness\":")).unwrap();
    shell.expect(0, &["list"]);
    std::fs::write(kept(&shell), "no json").unwrap();
    shell.expect(0, &["list"]);
}

#[test]
fn the_file_says_where_our_state_is_for_everyone() {
    let shell = Shell::new();
    let elsewhere = shell.path().join("state");
    shell.configure(json!({ "trust": "always", "state_dir": elsewhere }));
    shell.expect(3, &["run", "small", "epic=x"]);
    assert!(elsewhere.join("newest").is_dir(), "seals are kept there");
    let run = shell.ask(&["status"])["run"].clone();
    assert_eq!(run["reason"], "gate", "and found again: {run:#}");
}

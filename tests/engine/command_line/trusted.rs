//! Trust: refused in words, agreed to by a digest, and asked about at a terminal.

use super::{Done, Shell};
use serde_json::json;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::Stdio;

fn asking() -> Shell {
    let shell = Shell::new();
    shell.configure(json!({}));
    shell.world.write(".claude/agents/writer.md", "---\nname: writer\n---\nWrite.\n");
    shell
}

#[test]
fn without_a_terminal_it_is_refused_and_agreed_to_by_its_digest() {
    let shell = asking();
    let run = shell.expect(2, &["run", "small", "epic=x"]);
    assert_eq!(run.out, "");
    assert!(run.err.contains("superpower trust small"), "{}", run.err);
    let shown = shell.expect(2, &["trust", "small"]);
    assert!(
        shown.out.contains("   1  agent writer  .claude/agents/writer.md\n      Work on {{epic}}\n"),
        "{}",
        shown.out
    );
    let digest = shown.out.lines().last().unwrap().strip_prefix("not trusted; digest: ").unwrap().to_owned();
    let wrong = shell.expect(2, &["trust", "small", "--digest", &digest.replace(&digest[..4], "0000")]);
    assert!(wrong.err.contains("have changed since they were shown"), "{}", wrong.err);
    shell.world.write(".claude/agents/writer.md", "---\nname: writer\n---\nWrite more.\n");
    shell.expect(2, &["trust", "small", "--digest", &digest]);
    shell.world.write(".claude/agents/writer.md", "---\nname: writer\n---\nWrite.\n");
    let agreed = shell.expect(0, &["trust", "small", "--digest", &digest]);
    assert!(agreed.out.ends_with(&format!("trusted; digest: {digest}\n")), "{}", agreed.out);
    shell.expect(3, &["run", "small", "epic=x"]);
    shell.expect(0, &["trust", "small"]);
}

#[test]
fn a_run_is_agreed_to_as_it_would_continue() {
    let shell = asking();
    let digest = |words: &[&str]| {
        let shown = shell.run(words);
        let shown: serde_json::Value = serde_json::from_str(&shown.out).unwrap();
        shown["digest"].as_str().unwrap().to_owned()
    };
    shell.expect(0, &["trust", "small", "--digest", &digest(&["--json", "trust", "small"])]);
    shell.expect(3, &["run", "small", "epic=x"]);
    shell.world.write(".claude/agents/printer.md", "---\nname: printer\n---\nPrint.\n");
    let run_id = shell.ask(&["runs"])["runs"][0]["run_id"].as_str().unwrap().to_owned();
    let shown = shell.expect(2, &["trust", &run_id]);
    assert!(
        shown.out.contains("Changed since you trusted it\n  .claude/agents/printer.md  added\n"),
        "{}",
        shown.out
    );
    let run = format!("run={}", &run_id[..13]);
    shell.expect(0, &["trust", &run, "--digest", &digest(&["--json", "trust", &run_id])]);
    shell.expect(0, &["trust", &run_id]);
}

#[test]
fn the_verb_names_one_thing() {
    let shell = asking();
    assert!(shell.expect(2, &["trust"]).err.contains("name a superpower or a run"));
    assert!(shell.expect(2, &["trust", "smal"]).err.contains("did you mean \"small\"?"));
    assert!(shell.expect(2, &["trust", "small", "epic=x"]).err.contains("got \"epic=\""));
}

/// A terminal: its own end, and the one of whoever sits in it.
fn terminal() -> (File, OwnedFd) {
    let (mut own, mut theirs) = (0, 0);
    // SAFETY: both numbers are written before they are taken, and nothing else has them.
    unsafe {
        use std::ptr::null_mut;
        assert_eq!(libc::openpty(&mut own, &mut theirs, null_mut(), null_mut(), null_mut()), 0);
        (File::from_raw_fd(own), OwnedFd::from_raw_fd(theirs))
    }
}

/// Runs a verb at a terminal, and types this when it asks. What it printed there, and how it ended.
fn typed(shell: &Shell, words: &[&str], answer: &str) -> (String, Done) {
    let (mut own, theirs) = terminal();
    let mut command = shell.command(words);
    command
        .stdin(Stdio::from(theirs.try_clone().unwrap()))
        .stderr(Stdio::from(theirs))
        .stdout(Stdio::piped());
    let child = command.spawn().unwrap();
    drop(command);
    let mut shown = Vec::new();
    let mut some = [0; 4096];
    let mut answered = false;
    // Linux ends a terminal that nobody is at with an error.
    while let Ok(count @ 1..) = own.read(&mut some) {
        shown.extend_from_slice(&some[..count]);
        if !answered && String::from_utf8_lossy(&shown).contains("[y/N] ") {
            answered = true;
            own.write_all(answer.as_bytes()).unwrap();
        }
    }
    let done = Done::of(child.wait_with_output().unwrap());
    (String::from_utf8_lossy(&shown).into_owned(), done)
}

#[test]
fn at_a_terminal_it_is_asked_and_only_a_yes_starts_anything() {
    let shell = asking();
    for answer in ["n\n", "\n", "\u{4}"] {
        let (shown, done) = typed(&shell, &["run", "small", "epic=x"], answer);
        assert_eq!((done.status, done.out.as_str()), (2, ""), "{answer:?}: {shown}");
        assert!(
            shown.contains("small 1.0.0: what it will do") && shown.contains("nothing was started"),
            "{shown}"
        );
    }
    assert!(!shell.world.path(".claude/state/runs").exists());
    let (shown, done) = typed(&shell, &["run", "small", "epic=x"], "y\n");
    assert_eq!(done.status, 3, "{shown}");
    assert!(done.out.contains("PAUSED — decide with"), "{}", done.out);
    shell.expect(0, &["trust", "small"]);
    let (shown, done) = typed(&shell, &["run", "small", "epic=y"], "");
    assert_eq!(done.status, 3, "nothing is asked any more: {shown}");
}

#[test]
fn the_verb_trust_asks_at_a_terminal() {
    let shell = asking();
    let (_, done) = typed(&shell, &["trust", "small"], "no\n");
    assert_eq!(done.status, 2);
    let (_, done) = typed(&shell, &["trust", "small"], "yes\n");
    assert_eq!(done.status, 0);
    shell.expect(0, &["trust", "small"]);
}

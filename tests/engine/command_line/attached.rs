//! Runs that are left, and followed from elsewhere.

use super::driven::Driver;
use super::interrupted::begun;
use super::{Done, Shell};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Child, Stdio};

const SCRIPT: &str = "touch begun; until [ -e go ]; do sleep 0.01; done; echo fine";

fn spawn(shell: &Shell, words: &[&str]) -> Child {
    shell.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn done(child: Child) -> Done {
    Done::of(child.wait_with_output().unwrap())
}

/// Reads lines until one has this text.
fn until(out: &mut impl BufRead, text: &str) -> String {
    let mut all = String::new();
    while !all.contains(text) {
        assert_ne!(out.read_line(&mut all).unwrap(), 0, "{text} never came: {all}");
    }
    all
}

fn interrupt(child: &Child) {
    kill_process(Pid::from_child(child), Signal::INT).unwrap();
}

#[test]
fn whoever_attaches_sees_each_line_once_from_the_first_one_on() {
    let shell = Shell::new();
    let _driver = Driver::of(&shell);
    let skipped = "  - {agent: writer, description: Not this, when: never}\n";
    let worked = "  - {agent: writer, description: Write}\n";
    let stages = [worked, skipped].concat().repeat(12);
    shell.world.declare("long", &format!("inputs:\n  - {{name: epic, required: true}}\nstages:\n{stages}"));
    let run = spawn(&shell, &["run", "long", "epic=x"]);
    shell.world.until("the run to start", |picture| !picture.is_null());
    let mut others = Vec::new();
    while shell.ask(&["status"])["run"]["state"] == "running" && others.len() < 20 {
        others.push(spawn(&shell, &["attach"]));
    }
    let run = done(run);
    assert_eq!(run.status, 0, "{run:#?}");
    assert!(others.len() > 2, "the run was over too soon");
    for other in others {
        let other = done(other);
        assert_eq!((other.status, &other.out), (0, &run.out), "{}", other.err);
    }
    let late = shell.expect(0, &["attach"]);
    assert_eq!((&*late.out, &*late.err), (&*run.out, "superpower: long: complete\n"));
}

#[test]
fn an_interruption_leaves_the_run_alone_and_a_gate_ends_the_watching() {
    let shell = Shell::new();
    let _driver = Driver::of(&shell);
    shell.world.hook(SCRIPT);
    let run = spawn(&shell, &["run", "small", "epic=x"]);
    shell.world.until("the agent to start", |_| shell.world.path("begun").exists());
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let mut child = spawn(&shell, &["attach"]);
        let mut out = BufReader::new(child.stdout.take().unwrap());
        until(&mut out, "DISPATCH");
        kill_process(Pid::from_child(&child), signal).unwrap();
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        assert_eq!((child.wait().unwrap().code(), &*rest), (Some(1), ""), "{signal:?}");
        assert_eq!(shell.ask(&["status"])["run"]["state"], "running");
    }
    let mut events = spawn(&shell, &["attach", "--json"]);
    let mut out = BufReader::new(events.stdout.take().unwrap());
    let mut told = until(&mut out, "DISPATCH");
    shell.world.write("go", "");
    out.read_to_string(&mut told).unwrap();
    assert_eq!(events.wait().unwrap().code(), Some(3));
    let told: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let lines = told.iter().filter_map(|event| event["line"].as_str()).collect::<Vec<_>>();
    let run = done(run);
    assert_eq!(
        lines
            .join("\n")
            .replace("resume with: :Superpower resume small", "decide with: approve, changes or reject"),
        run.out.trim_end()
    );
    assert_eq!(told.last().unwrap()["status"], 3);
    let late = shell.expect(3, &["attach"]);
    assert_eq!(late.out, run.out);
    assert!(late.err.contains("small: paused (gate)"), "{}", late.err);
    shell.expect(2, &["attach", "run=ffff"]);
    shell.expect(2, &["attach", "small"]);
}

#[test]
fn a_run_that_a_command_drives_itself_can_be_followed_too() {
    let shell = Shell::new();
    let nothing = shell.expect(2, &["attach"]);
    assert_eq!(nothing.err, "superpower: no run in this project\n");
    let (run, _out) = begun(&shell);
    let mut child = spawn(&shell, &["attach"]);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut lines = until(&mut out, "DISPATCH");
    let refused = shell.expect(2, &["resume", "--detach"]);
    assert!(refused.err.contains("drives a run of this project until it next pauses"), "{}", refused.err);
    interrupt(&run);
    out.read_to_string(&mut lines).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert!(lines.contains("PAUSED (interrupted)"), "{lines}");
}

#[test]
fn a_detached_run_goes_on_without_the_program() {
    let shell = Shell::new();
    shell.world.hook(SCRIPT);
    let started = shell.expect(0, &["run", "small", "epic=x", "--detach"]);
    assert_eq!(started.out.lines().count(), 1, "{started:#?}");
    assert_eq!(started.err, "");
    let (head, attach) = started.out.trim_end().split_once("  follow it with: superpower ").unwrap();
    shell.world.until("the agent to start", |_| shell.world.path("begun").exists());
    let drivers = shell.expect(0, &["driver"]).out;
    let root = shell.world.root().display().to_string();
    assert!(drivers.contains(&root) && drivers.contains("small running, stage 1/3"), "{drivers}");
    let attached = spawn(&shell, &attach.split(' ').collect::<Vec<_>>());
    shell.world.write("go", "");
    let attached = done(attached);
    assert_eq!(attached.status, 3, "{attached:#?}");
    assert!(attached.out.starts_with("[superpower] LOADED  small"), "{attached:#?}");
    assert!(shell.expect(0, &["runs"]).out.contains(head.strip_prefix("run=").unwrap()));

    assert!(attached.err.contains("(review="), "what is approved was shown: {attached:#?}");
    let approved = shell.ask(&["approve", "--detach"]);
    assert_eq!(json!(head), json!(format!("run={}", approved["run_id"].as_str().unwrap())));
    let attached = shell.expect(0, &["attach"]);
    assert!(attached.out.ends_with("[superpower] COMPLETE  small\n"), "{attached:#?}");

    std::fs::remove_file(shell.world.path("go")).unwrap();
    shell.expect(0, &["run", "small", "epic=y", "--detach"]);
    let ended = shell.ask(&["driver", "end"]);
    assert!(ended["ended"]["pid"].is_u64(), "{ended}");
    assert_eq!(shell.ask(&["status"])["run"]["reason"], "interrupted");
    assert_eq!(shell.ask(&["driver", "end"]), json!({ "ended": null }));
    assert_eq!(shell.ask(&["driver"]), json!({ "drivers": [] }));
    assert_eq!(shell.expect(0, &["driver"]).out, "no drivers\n");
    shell.expect(1, &["attach"]);
    shell.expect(2, &["driver", "start"]);
    shell.expect(2, &["pause", "--detach"]);
}

#[test]
fn at_a_terminal_the_last_line_says_what_the_agent_does() {
    let shell = Shell::new();
    let _driver = Driver::of(&shell);
    shell.world.hook(&format!("echo 'half way'; {SCRIPT}"));
    let run = spawn(&shell, &["run", "small", "epic=x"]);
    shell.world.until("the agent to start", |_| shell.world.path("begun").exists());
    let (terminal, inside) = terminal();
    let mut command = shell.command(&["attach"]);
    command.env("TERM", "xterm").stdout(inside.try_clone().unwrap()).stderr(inside);
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut out = BufReader::new(File::from(terminal));
    let mut shown = Vec::new();
    let seen = |shown: &[u8], text: &str| String::from_utf8_lossy(shown).contains(text);
    while !seen(&shown, "1/3  half way") {
        let read = out.fill_buf().unwrap();
        let length = read.len();
        assert_ne!(length, 0, "{}", String::from_utf8_lossy(&shown));
        shown.extend_from_slice(read);
        out.consume(length);
    }
    shell.world.write("go", "");
    // The end of a terminal whose programs have gone is an error on Linux.
    let _ = out.read_to_end(&mut shown);
    assert_eq!(child.wait().unwrap().code(), Some(3));
    let shown = String::from_utf8(shown).unwrap();
    let lines = shown.split("\r\n").map(|line| line.rsplit("\x1b[K").next().unwrap());
    let lines: Vec<&str> = lines.filter(|line| line.starts_with("[superpower]")).collect();
    assert_eq!(lines.join("\n") + "\n", done(run).out, "and is gone before the next line");
    assert!(!shown.rsplit("\x1b[K").next().unwrap().contains("half way"), "{shown:?}");
}

/// A terminal of 40 columns: our end, and that of a program.
fn terminal() -> (OwnedFd, OwnedFd) {
    let (mut ours, mut theirs) = (-1, -1);
    let size = libc::winsize { ws_row: 20, ws_col: 40, ws_xpixel: 0, ws_ypixel: 0 };
    let (none, mut size) = (std::ptr::null_mut(), size);
    // SAFETY: the numbers and the size are locals; both descriptors are owned by nobody else.
    unsafe {
        assert_eq!(libc::openpty(&mut ours, &mut theirs, none, std::ptr::null_mut(), &raw mut size), 0);
        (OwnedFd::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs))
    }
}

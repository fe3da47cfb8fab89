//! Where a driver lives, the program is its client.

use super::Shell;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

/// A project's driver, until this is dropped.
pub(super) struct Driver(Child);

impl Driver {
    pub(super) fn of(shell: &Shell) -> Self {
        let root = shell.world.root();
        let mut command = shell.command(&["drive", "--root", root.to_str().unwrap(), "--foreground"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        Self(child)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
        let _ = self.0.wait();
    }
}

#[test]
fn lines_and_statuses_are_the_same() {
    let shell = Shell::new();
    let driver = Driver::of(&shell);
    let run = shell.expect(3, &["run", "small", "epic=x"]);
    let lines = [
        "[superpower] LOADED  small  v1.0.0  stages=3",
        "[superpower] STAGE 1/3: Work on x",
        "[superpower] DISPATCH  agent=writer",
        "[superpower] STAGE 2/3: Is it right",
        "[superpower] GATE   Human approval required: Is it right",
        "[superpower] PAUSED — decide with: approve, changes or reject",
    ];
    assert_eq!(run.out.lines().collect::<Vec<_>>(), lines);
    assert!(run.err.contains("(review="), "{}", run.err);
    assert_eq!(shell.ask(&["status"])["run"]["reason"], "gate");
    let approved = shell.expect(0, &["approve", "good"]);
    assert!(approved.out.ends_with("[superpower] COMPLETE  small\n"), "{approved:#?}");
    shell.expect(2, &["approve"]);
    shell.expect(0, &["resume"]);
    drop(driver);
}

#[test]
fn a_run_is_paused_cancelled_and_interrupted_from_elsewhere() {
    let shell = Shell::new();
    let _driver = Driver::of(&shell);
    let (mut child, _out) = super::interrupted::begun(&shell);
    assert_eq!(shell.ask(&["status"])["run"]["state"], "running");
    for words in [&["trust", "small"][..], &["plan", "small", "epic=y"], &["runs"], &["log"], &["why"]] {
        shell.expect(0, words);
    }
    for words in [&["diff"][..], &["approve"], &["run", "small", "epic=y"], &["retry"]] {
        shell.expect(2, words);
    }
    assert_eq!(
        shell.ask(&["status"])["run"]["state"],
        "running",
        "neither a question nor what is refused ends anything"
    );
    let cancelled = shell.expect(0, &["cancel"]);
    assert!(cancelled.out.contains("CANCELLED  small"), "{cancelled:#?}");
    assert_eq!(child.wait().unwrap().code(), Some(1), "whoever started it sees its end");

    std::fs::remove_file(shell.world.path("begun")).unwrap();
    let (mut child, _out) = super::interrupted::begun(&shell);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let picture = shell.world.until("the run to be interrupted", |picture| picture["state"] != "running");
    assert_eq!(picture["reason"], "interrupted");
}

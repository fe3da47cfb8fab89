//! Signals, and outputs that nobody reads.

use super::driven::Driver;
use super::{Done, Shell};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};

/// Starts a run whose agent never ends, and waits until that has begun.
pub(super) fn begun(shell: &Shell) -> (Child, BufReader<std::process::ChildStdout>) {
    shell.world.hook("echo $$ > agent-id; mv agent-id begun; exec sleep 600");
    let mut command = shell.command(&["run", "small", "epic=x"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("DISPATCH") {
        line.clear();
        assert_ne!(out.read_line(&mut line).unwrap(), 0, "the run has ended");
    }
    while !shell.world.path("begun").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    (child, out)
}

#[test]
fn a_signal_pauses_the_run_as_interrupted_and_ends_its_agent() {
    for (signal, driven) in
        [Signal::INT, Signal::TERM, Signal::HUP].map(|it| [(it, false), (it, true)]).concat()
    {
        let shell = Shell::new();
        let _driver = driven.then(|| Driver::of(&shell));
        let (mut child, mut out) = begun(&shell);
        kill_process(Pid::from_child(&child), signal).unwrap();
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(1), "{signal:?} {driven}");
        assert!(rest.contains("PAUSED (interrupted)"), "{signal:?} {driven}: {rest}");
        assert_eq!(shell.world.squad()["status"], "paused");
        let agent: i32 = shell.world.read("begun").trim().parse().unwrap();
        assert!(
            rustix::process::test_kill_process(Pid::from_raw(agent).unwrap()).is_err(),
            "{signal:?} {driven}"
        );
        shell.world.hook("echo fine");
        shell.expect(3, &["resume"]);
    }
}

#[test]
fn a_signal_that_was_to_be_ignored_is() {
    let shell = Shell::new();
    shell.world.hook("kill -HUP $(cat caller); echo fine");
    let mut command = std::process::Command::new("sh");
    let program = env!("CARGO_BIN_EXE_superpower");
    let script = format!("trap '' HUP; echo $$ > caller; exec {program} run small epic=x");
    command.args(["-c", &script]);
    let like = shell.command(&[] as &[&str]);
    command.env_clear().envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let done = Done::of(command.current_dir(shell.world.root()).stdin(Stdio::null()).output().unwrap());
    assert_eq!(done.status, 3, "{done:#?}");
}

#[test]
fn lost_lines_of_a_run_are_a_failure_and_a_reader_of_a_list_may_leave() {
    let shell = Shell::new();
    let closed = || {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        writer
    };
    let done = Done::of(shell.command(&["run", "small", "epic=x"]).stdout(closed()).output().unwrap());
    assert_eq!(done.status, 1);
    assert!(done.err.contains("lines were lost: standard output cannot be written"), "{}", done.err);
    assert_eq!(shell.ask(&["status"])["run"]["reason"], "gate", "the run went on");
    let done = Done::of(shell.command(&["runs"]).stdout(closed()).output().unwrap());
    assert_eq!((done.status, done.err.as_str()), (0, ""));
}

//! Nothing is left: of a launch that is stopped at any instant, and of an editor that is killed at any instant.
//!
//! A few rounds always; with `SUPERPOWER_LONG=1` the 1,000 and 200 that the figures speak of.

use super::harness::{ended, launch_in, start};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use superpower::harness::*;

/// Several generations: ignoring TERM, in a session of its own, without its parent, without the mark.
const TREE: &str = r#"
arg=$1
(setsid sh -c 'trap "" TERM; sleep '$arg' & sleep '$arg &)
(sh -c '(sleep '$arg' &); exec setsid sleep '$arg &)
env -i PATH="$PATH" setsid sleep $arg &
trap "" TERM
while :; do sleep $arg; done
"#;
/// Tells the test in this process which folder to be an editor in.
const EDITOR: &str = "TEST_EDITOR_FOLDER";

fn rounds(few: u32, many: u32) -> u32 {
    if std::env::var_os("SUPERPOWER_LONG").is_some() { many } else { few }
}

/// A number from 0 to below `most`, different in each round.
fn some(round: u32, most: u64) -> u64 {
    ((u64::from(round).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(std::process::id().into()) >> 7)
        & 0xffff)
        % most
}

fn harnesses(argument: &str) -> Harnesses {
    let mut harnesses = Harnesses::default();
    let cmd = ["sh", "-c", TREE, "-", argument].map(ToOwned::to_owned);
    harnesses.named.get_mut("command").unwrap().cmd = cmd.to_vec();
    harnesses
}

/// Whether a process has this argument.
fn lives(argument: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let cmdline = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        cmdline.split(|&b| b == 0).any(|word| word == argument.as_bytes())
    })
}

/// The folder of the process that is the editor of a test, for the test that is one.
fn editors_folder() -> Option<PathBuf> {
    std::env::var_os(EDITOR).map(PathBuf::from)
}

#[test]
fn a_launch_that_is_stopped_at_any_instant_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    for round in 0..rounds(12, 1000) {
        let argument = format!("3{}.{round}", std::process::id());
        let (running, signals) = start("command", &harnesses(&argument), launch_in(dir.path()));
        std::thread::sleep(Duration::from_millis(some(round, 60)));
        let begun = Instant::now();
        if round % 2 == 0 {
            running.stop()
        } else {
            running.kill_now(Duration::from_millis(100))
        }
        ended(&signals);
        assert!(begun.elapsed() < Duration::from_secs(2), "round {round}: {:?}", begun.elapsed());
        assert!(!lives(&argument), "round {round}");
    }
}

/// No test of its own: it is the editor that the next test kills.
#[test]
fn an_editor_to_be_killed() {
    let Some(folder) = editors_folder() else { return };
    let argument = folder.file_name().unwrap().to_str().unwrap().to_owned();
    let (_running, signals) = start("command", &harnesses(&argument), launch_in(&folder));
    for signal in signals {
        if matches!(signal, Signal::Started(_)) {
            std::fs::write(folder.join("started"), "").unwrap();
        }
    }
}

fn editor(folder: &Path) -> std::process::Child {
    let test = std::env::current_exe().unwrap();
    let mut command = Command::new(test);
    command.args(["--exact", "survivors::an_editor_to_be_killed", "--nocapture"]).env(EDITOR, folder);
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap()
}

#[test]
fn h6_an_editor_that_is_killed_at_any_instant_leaves_nothing_after_two_seconds() {
    assert!(superpower::process::guard_program().is_some(), "the guard is built beside what is tested");
    let dir = tempfile::tempdir().unwrap();
    for round in 0..rounds(6, 200) {
        let argument = format!("4{}.{round}", std::process::id());
        let folder = dir.path().join(&argument);
        std::fs::create_dir(&folder).unwrap();
        let mut editor = editor(&folder);
        let begun = Instant::now();
        while !folder.join("started").exists() && begun.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(some(round, 80)));
        editor.kill().unwrap();
        let killed = Instant::now();
        editor.wait().unwrap();
        while lives(&argument) {
            assert!(killed.elapsed() < Duration::from_secs(2), "round {round}: something is left");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

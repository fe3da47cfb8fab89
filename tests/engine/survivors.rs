//! No process is left of a launch that is stopped at any moment, or of an editor that is killed at any moment.
//!
//! Each test has a few rounds, or 1,000 and 200 with `SUPERPOWER_LONG=1`.

use super::child::child;
use super::launched::{ended, launch_in, start};
use super::opencode_server::serving;
use std::path::Path;
use std::time::{Duration, Instant};
use superpower::harness::*;

/// Several generations of processes: one ignores SIGTERM, others have their own session, no parent, or no mark.
const TREE: &str = r#"
arg=$1
(setsid sh -c 'trap "" TERM; sleep '$arg' & sleep '$arg &)
(sh -c '(sleep '$arg' &); exec setsid sleep '$arg &)
env -i PATH="$PATH" setsid sleep $arg &
trap "" TERM
while :; do sleep $arg; done
"#;

fn rounds(few: u32, many: u32) -> u32 {
    if std::env::var_os("SUPERPOWER_LONG").is_some() { many } else { few }
}

/// A number below `most`, different in each round.
fn some(round: u32, most: u64) -> u64 {
    ((u64::from(round).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(std::process::id().into()) >> 7)
        & 0xffff)
        % most
}

/// A harness whose agent is this tree of processes.
fn command(argument: &str) -> Harnesses {
    let mut harnesses = Harnesses::default();
    let cmd = ["sh", "-c", TREE, "-", argument].map(ToOwned::to_owned);
    harnesses.named.get_mut("command").unwrap().cmd = cmd.to_vec();
    harnesses
}

/// A harness whose agent is a server with the tree as its shell. Every second server does not answer when it is stopped.
fn served(folder: &Path, argument: &str) -> Harnesses {
    let work = format!(
        "def work(body): say('now'); tool('running', input={{'command': 'x'}}); ask(); subprocess.Popen(['sh', '-c', {TREE:?}, '-', '{argument}'])"
    );
    let abort = "def abort(): time.sleep(600 * (os.getpid() % 2)); status('idle')";
    serving(folder, &format!("{work}\n{abort}"))
}

fn harnesses(tool: &str, folder: &Path, argument: &str) -> Harnesses {
    if tool == "opencode" { served(folder, argument) } else { command(argument) }
}

/// Identifies the processes of the tree: a number of seconds to sleep that no other round or test uses.
fn argument(test: u8, round: u32) -> String {
    format!("{test}{}.{round}", std::process::id())
}

/// Latest time of the stop after the start, in milliseconds. A server takes longer to start.
fn most(tool: &str) -> u64 {
    if tool == "opencode" { 1200 } else { 60 }
}

/// Whether a process has this argument.
fn lives(argument: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let cmdline = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        cmdline.split(|&b| b == 0).any(|word| word == argument.as_bytes())
    })
}

fn stopped_at_any_instant(tool: &str, few: u32) {
    let dir = tempfile::tempdir().unwrap();
    for round in 0..rounds(few, 1000) {
        let argument = argument(if tool == "command" { 3 } else { 5 }, round);
        let folder = dir.path().join(&argument);
        std::fs::create_dir(&folder).unwrap();
        let harnesses = harnesses(tool, &folder, &argument);
        let (running, signals) = start(tool, &harnesses, launch_in(&folder));
        std::thread::sleep(Duration::from_millis(some(round, most(tool))));
        let begun = Instant::now();
        if round % 2 == 0 {
            running.stop()
        } else {
            running.kill_now(Duration::from_millis(100))
        }
        ended(&signals);
        assert!(begun.elapsed() < Duration::from_secs(2), "round {round}: {:?}", begun.elapsed());
        assert!(!lives(&argument) && !lives(folder.join("opencode").to_str().unwrap()), "round {round}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

#[test]
fn a_launch_that_is_stopped_at_any_instant_leaves_nothing() {
    stopped_at_any_instant("command", 12);
}

#[test]
fn a_server_that_is_stopped_at_any_instant_leaves_nothing() {
    stopped_at_any_instant("opencode", 6);
}

/// An editor that launches the tree, to be killed by the test.
fn editor(tool: &str, folder: &Path, harnesses: &Harnesses) -> std::process::Child {
    let mut command = child("launch");
    command.arg(tool).arg(folder).args(&harnesses.named[tool].cmd).spawn().unwrap()
}

fn killed_at_any_instant(tool: &str, few: u32) {
    assert!(superpower::process::guard_program().is_some(), "the guard is built beside what is tested");
    let dir = tempfile::tempdir().unwrap();
    for round in 0..rounds(few, 200) {
        let argument = argument(if tool == "command" { 4 } else { 6 }, round);
        let folder = dir.path().join(&argument);
        std::fs::create_dir(&folder).unwrap();
        let mut editor = editor(tool, &folder, &harnesses(tool, &folder, &argument));
        let begun = Instant::now();
        while !folder.join("started").exists() && begun.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(some(round, most(tool) + 20)));
        editor.kill().unwrap();
        let killed = Instant::now();
        editor.wait().unwrap();
        while lives(&argument) || lives(folder.join("opencode").to_str().unwrap()) {
            assert!(killed.elapsed() < Duration::from_secs(2), "round {round}: something is left");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn an_editor_that_is_killed_at_any_instant_leaves_nothing_after_two_seconds() {
    killed_at_any_instant("command", 6);
}

#[test]
fn an_editor_that_is_killed_while_it_drives_a_server_leaves_nothing_after_two_seconds() {
    killed_at_any_instant("opencode", 3);
}

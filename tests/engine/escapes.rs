//! No process of a launch survives it, however it tries to escape: when the agent ends, after a cancel, and when the
//! editor, the launcher or the init is killed.
//!
//! Each test has a few rounds, or 1,000 with `SUPERPOWER_LONG=1`.
#![cfg(target_os = "linux")]

use super::child::child;
use super::launched::{ended, launch_in, start};
use super::places::skipped;
use rustix::process::{Pid, Signal};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use superpower::harness::*;
use superpower::outcome::Outcome;

/// Ways to escape. Each script leaves a process with the argument `$1`, or one that touches the file `beacon` in the working
/// directory repeatedly.
const WAYS: [(&str, &str); 8] = [
    ("a session of its own and no environment", "env -i setsid sleep $1 &"),
    ("a double fork", "(env -i setsid sh -c '(sleep '$1' &)' &)"),
    ("nohup", "env -i nohup sleep $1 >/dev/null 2>&1 &"),
    (
        "a daemon that ignores every signal that it can",
        "env -i setsid sh -c 'trap \"\" 1 2 3 10 12 13 14 15 17 18 20 21 22; while :; do sleep '$1'; done' &",
    ),
    (
        "one that is a new process again and again",
        "for i in 1 2 3 4; do env -i setsid sh -c 'hop() { : > beacon; hop & }; hop' - & done",
    ),
    (
        "two that watch each other",
        "env -i setsid sh -c 'on() { while :; do : > beacon; sleep 0.01; done; }; while :; do on & wait $!; done' &",
    ),
    (
        "a crowd",
        "env -i setsid sh -c 'b() { [ $2 -lt 6 ] || exec sleep $1; b $1 $(($2+1)) & b $1 $(($2+1)) & }; b $0 0' $1 &",
    ),
    ("one that is begun at a polite end", "trap 'set -m; env -i sleep '$1' & exit 0' TERM"),
];

fn rounds(few: usize) -> usize {
    if std::env::var_os("SUPERPOWER_LONG").is_some() { 1000 } else { few }
}

/// An agent that escapes in one of these ways, creates the file `away`, and then runs `then`.
fn agent(way: &str, nap: &str, then: &str) -> Vec<String> {
    let script = format!("{way}\n: > away\n{then}");
    ["sh", "-c", &script, "-", nap].map(ToOwned::to_owned).to_vec()
}

fn harnesses(cmd: Vec<String>) -> Harnesses {
    let mut harnesses = Harnesses::default();
    harnesses.named.get_mut("command").unwrap().cmd = cmd;
    harnesses
}

/// Identifies the processes of a round: a number of seconds to sleep that no other process has.
pub fn nap(test: u8, round: usize) -> String {
    format!("88{test}{}.{round}", std::process::id())
}

/// Waits until the condition holds, for at most `within`.
pub fn wait_until(what: &str, within: Duration, true_now: impl Fn() -> bool) {
    let begun = Instant::now();
    while !true_now() {
        assert!(begun.elapsed() < within, "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Long enough for a busy machine.
pub const LONG: Duration = Duration::from_secs(20);

/// Whether no process has this argument, except the editor that launches it.
pub fn is_gone(argument: &str) -> bool {
    let has = |entry: std::fs::DirEntry| {
        let cmdline = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = cmdline.split(|&b| b == 0).collect();
        words.contains(&argument.as_bytes()) && !words.contains(&&b"launch"[..])
    };
    !std::fs::read_dir("/proc").unwrap().flatten().any(has)
}

/// Whether the agent has escaped.
fn is_away(folder: &Path, cmd: &[String]) -> bool {
    let beacon = cmd.iter().any(|word| word.contains("beacon"));
    folder.join("away").exists() && (!beacon || folder.join("beacon").exists())
}

/// Whether no process of the round is left.
fn nothing_is_left(folder: &Path, nap: &str) -> bool {
    let beacon = folder.join("beacon");
    if beacon.exists() {
        std::fs::remove_file(&beacon).unwrap();
        std::thread::sleep(Duration::from_millis(60));
    }
    is_gone(nap) && !beacon.exists()
}

/// The directory of the round, and its agent with the way to escape.
fn round(dir: &Path, test: u8, at: usize, then: &str) -> (&'static str, PathBuf, String, Vec<String>) {
    let (way, script) = WAYS[at % WAYS.len()];
    let nap = nap(test, at);
    let folder = dir.join(&nap);
    std::fs::create_dir(&folder).unwrap();
    let cmd = agent(script, &nap, then);
    (way, folder, nap, cmd)
}

#[test]
fn after_the_end_of_the_agent() {
    let dir = tempfile::tempdir().unwrap();
    for at in 0..rounds(WAYS.len()) {
        let (way, folder, nap, cmd) = round(dir.path(), 1, at, "echo done; exit 0");
        let (_running, signals) = start("command", &harnesses(cmd), launch_in(&folder));
        let (_, ending) = ended(&signals);
        assert_eq!(ending.outcome, Outcome::Passed, "{way}");
        assert!(nothing_is_left(&folder, &nap), "{way}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

#[test]
fn after_a_cancel() {
    let dir = tempfile::tempdir().unwrap();
    for at in 0..rounds(WAYS.len()) {
        let (way, folder, nap, cmd) = round(dir.path(), 2, at, "while :; do sleep 0.05; done");
        let (running, signals) = start("command", &harnesses(cmd.clone()), launch_in(&folder));
        wait_until(way, LONG, || is_away(&folder, &cmd));
        let begun = Instant::now();
        running.stop();
        ended(&signals);
        assert!(nothing_is_left(&folder, &nap), "{way}");
        assert!(begun.elapsed() < Duration::from_secs(4), "{way}: {:?}", begun.elapsed());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

/// The children of a process.
fn children(parent: u32) -> Vec<u32> {
    let list = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
    list.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

fn named(pids: Vec<u32>, name: &str) -> u32 {
    let is = |pid: &u32| {
        std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm.trim() == name)
    };
    pids.into_iter().find(is).unwrap_or_else(|| panic!("no {name}"))
}

/// An editor that is killed at the end of its test.
pub struct Editor(pub std::process::Child);

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Which process is killed.
#[derive(Clone, Copy, PartialEq)]
enum Victim {
    Editor,
    Launcher,
    Init,
    /// Both, so that nobody adopts what is below.
    InitAndLauncher,
}

fn kill(pid: u32, signal: Signal) {
    rustix::process::kill_process(Pid::from_raw(pid as i32).unwrap(), signal).unwrap();
}

fn after_the_death_of(victim: Victim, test: u8) {
    let dir = tempfile::tempdir().unwrap();
    for at in 0..rounds(WAYS.len()) {
        let (way, folder, nap, cmd) = round(dir.path(), test, at, "while :; do sleep 0.05; done");
        let mut editor = Editor(child("launch").arg("command").arg(&folder).args(&cmd).spawn().unwrap());
        let editor = &mut editor.0;
        wait_until(way, LONG, || is_away(&folder, &cmd) && folder.join("started").exists());
        let launcher = editor_child(editor.id());
        let init = named(children(launcher), "superpower-init");
        let victims = match victim {
            Victim::Editor => vec![editor.id()],
            Victim::Launcher => vec![launcher],
            Victim::Init => vec![init],
            Victim::InitAndLauncher => vec![launcher, init],
        };
        // Stopped first: none of them sees the end of another.
        victims.iter().for_each(|&pid| kill(pid, Signal::STOP));
        victims.iter().for_each(|&pid| kill(pid, Signal::KILL));
        if victim == Victim::Editor {
            editor.wait().unwrap();
        }
        // A zombie may stay until its new parent reaps it.
        let gone = |pid: u32| superpower::process::record(pid).is_none();
        wait_until(way, Duration::from_secs(2), || gone(init) && nothing_is_left(&folder, &nap));
        if victim != Victim::Editor {
            // The editor is running, and has received the end of the agent.
            wait_until("the editor is told", LONG, || folder.join("ended").exists());
            assert_eq!(editor.try_wait().unwrap(), None);
            editor.kill().unwrap();
            editor.wait().unwrap();
        }
        wait_until("the launcher leaves", LONG, || gone(launcher));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

/// The launcher of an editor. Any thread of the editor may have started it.
fn editor_child(editor: u32) -> u32 {
    let threads = std::fs::read_dir(format!("/proc/{editor}/task")).unwrap().flatten();
    let of = |thread: std::fs::DirEntry| {
        std::fs::read_to_string(thread.path().join("children")).unwrap_or_default()
    };
    let lists: Vec<String> = threads.map(of).collect();
    named(
        lists.iter().flat_map(|list| list.split_whitespace()).map(|pid| pid.parse().unwrap()).collect(),
        "superpower-main",
    )
}

#[test]
fn after_the_death_of_init_and_launcher() {
    after_the_death_of(Victim::InitAndLauncher, 6);
}

/// The init of the launch whose agent said which process it is, and the launcher.
fn init_and_launcher(folder: &Path) -> [u32; 2] {
    let parent = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit(')').next().unwrap().split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let agent = std::fs::read_to_string(folder.join("pid")).unwrap().trim().parse().unwrap();
    [parent(agent), parent(parent(agent))]
}

/// What each of the launch's keepers is stopped by, once the agent is away.
fn with_a_keeper_stopped(test: u8, then: &str, end: impl Fn(&Running)) {
    let dir = tempfile::tempdir().unwrap();
    for at in 0..rounds(WAYS.len()) {
        let then =
            format!("echo $$ > pid.part; mv pid.part pid; while [ ! -f go ]; do sleep 0.01; done; {then}");
        let (way, folder, nap, cmd) = round(dir.path(), test, at, &then);
        let (running, signals) = start("command", &harnesses(cmd.clone()), launch_in(&folder));
        wait_until(way, LONG, || is_away(&folder, &cmd) && folder.join("pid").exists());
        // The launcher's turn comes where the init that it would stand in for is killed.
        let [init, launcher] = init_and_launcher(&folder);
        if at % 2 == 0 {
            kill(init, Signal::STOP);
        } else {
            kill(launcher, Signal::STOP);
            kill(init, Signal::KILL);
        }
        std::fs::write(folder.join("go"), "").unwrap();
        end(&running);
        ended(&signals);
        assert!(nothing_is_left(&folder, &nap), "{way}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

#[test]
fn after_its_end_with_a_stopped_init_or_launcher() {
    with_a_keeper_stopped(7, "echo done; exit 0", |_| ());
}

#[test]
fn after_a_cancel_with_a_stopped_init_or_launcher() {
    with_a_keeper_stopped(8, "while :; do sleep 0.05; done", Running::stop);
}

#[test]
fn what_nobody_could_end_is_ended_before_its_run_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let (way, folder, nap, cmd) = round(dir.path(), 9, 0, "while :; do sleep 0.05; done");
    let mut editor = Editor(child("launch").arg("command").arg(&folder).args(&cmd).spawn().unwrap());
    wait_until(way, LONG, || is_away(&folder, &cmd) && folder.join("run").exists());
    let launcher = editor_child(editor.0.id());
    let init = named(children(launcher), "superpower-init");
    let all = [editor.0.id(), launcher, init];
    all.iter().for_each(|&pid| kill(pid, Signal::STOP));
    all.iter().for_each(|&pid| kill(pid, Signal::KILL));
    editor.0.wait().unwrap();
    assert!(!is_gone(&nap), "somebody ended it");
    let run_id = std::fs::read_to_string(folder.join("run")).unwrap();
    let said = superpower::process::sweep(&[], &run_id);
    assert!(said.iter().any(|line| line.contains("(sleep), left from an earlier drive")), "{said:?}");
    assert!(is_gone(&nap));
}

/// Makes a program that only root may end, where this test is root's.
fn somebody_elses(folder: &Path) -> Option<()> {
    let own = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    own(folder, 0o777);
    let program = folder.join("setpriv");
    std::fs::copy("/usr/bin/setpriv", &program).ok()?;
    own(&program, 0o4755);
    let tried = std::process::Command::new("setpriv")
        .args(["--reuid=65534", "--clear-groups"])
        .arg(program)
        .args(["--reuid=0", "true"])
        .status();
    tried.is_ok_and(|status| status.success()).then_some(())
}

#[test]
fn what_belongs_to_somebody_else_is_left_and_said() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let nap = nap(0, 0);
    let folder = dir.path().join(&nap);
    std::fs::create_dir(&folder).unwrap();
    if somebody_elses(&folder).is_none() {
        return skipped("this user cannot become another one");
    }
    let cmd = agent("env -i ./setpriv --reuid=0 --clear-groups sleep $1 &", &nap, "echo done; exit 0");
    let job = child("launch");
    let mut editor = std::process::Command::new("setpriv");
    editor.args(["--reuid=65534", "--clear-groups"]).arg(job.get_program()).args(job.get_args());
    let mut editor = Editor(editor.arg("command").arg(&folder).args(&cmd).spawn().unwrap());
    wait_until("the editor is told", LONG, || folder.join("ended").exists());
    let left = std::fs::read_to_string(folder.join("left")).unwrap_or_default();
    let pid = left.strip_prefix("process ").and_then(|rest| rest.strip_suffix(" (sleep)"));
    let pid: u32 = pid.unwrap_or_else(|| panic!("{left:?}")).parse().unwrap();
    assert!(!is_gone(&nap));
    kill(pid, Signal::KILL);
    editor.0.kill().unwrap();
}

#[test]
fn after_the_death_of_the_editor() {
    after_the_death_of(Victim::Editor, 3);
}

#[test]
fn after_the_death_of_the_launcher() {
    after_the_death_of(Victim::Launcher, 4);
}

#[test]
fn after_the_death_of_the_init() {
    after_the_death_of(Victim::Init, 5);
}

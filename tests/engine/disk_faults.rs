//! A disk that is full, read-only or gone: the run pauses with a message, nothing is half-written, and the run
//! continues once the cause is fixed.

use crate::world::World;
use serde_json::{Value, json};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use superpower::runs::open::open;
use superpower::store::disk::{Op, set_probe};
use superpower::store::lease;

const TWO: &str = "stages:\n  - {agent: a}\n  - {agent: b}\n";

/// The probe belongs to the whole process, so only one test at a time may set it.
static PROBE: Mutex<()> = Mutex::new(());

/// A disk that fails, until it is dropped.
pub struct Failing(#[expect(dead_code)] MutexGuard<'static, ()>);

impl Failing {
    /// Fails every operation on this project's paths for which `hits` is true, with this error.
    pub fn with(root: PathBuf, errno: i32, hits: impl Fn(Op, &Path) -> bool + Send + 'static) -> Self {
        let guard = PROBE.lock().unwrap_or_else(PoisonError::into_inner);
        set_probe(Some(Box::new(move |op, path| {
            let hit = path.starts_with(&root) && hits(op, path);
            if hit { Err(io::Error::from_raw_os_error(errno)) } else { Ok(()) }
        })));
        Self(guard)
    }
}

impl Drop for Failing {
    fn drop(&mut self) {
        set_probe(None);
    }
}

fn state(op: Op, path: &Path) -> bool {
    op != Op::Read && path.to_string_lossy().contains("/.claude/")
}

fn named(name: &'static str) -> impl Fn(Op, &Path) -> bool + Send {
    move |op, path| op != Op::Read && path.file_name().is_some_and(|it| it == name)
}

/// A run of two stages whose first agent works until the file `go` exists.
fn working() -> (World, String) {
    let world = World::new();
    world.declare("two", TWO);
    world.hook("echo ready > ready; while [ ! -e go ]; do sleep 0.02; done; echo fine");
    let run_id = world.run("two", json!({}));
    world.until("the agent to be ready", |_| world.path("ready").exists());
    // The agent's start is in the journal too, which does not change while it works.
    world.until("the agent's process", |_| world.journal(&run_id).contains("\"process\":{"));
    (world, run_id)
}

fn wait(what: &str, enough: impl Fn() -> bool) {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !enough() {
        assert!(std::time::Instant::now() < end, "waited in vain for {what}");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

fn notices(world: &World, level: &str) -> Vec<String> {
    let events = world.events().into_iter();
    let notices = events.filter(|event| event["type"] == "notice" && event["level"] == level);
    notices.map(|event| event["message"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_read_only_project_starts_nothing_and_leaves_nothing() {
    let world = World::new();
    world.declare("two", TWO);
    let failing = Failing::with(world.root(), libc::EROFS, state);
    let message = world.refused("run", json!({ "name": "two" }), "disk");
    assert!(
        message.contains("cannot write below \".claude/state\"") && message.contains("Read-only"),
        "{message}"
    );
    drop(failing);
    assert!(world.calls().is_empty());
    assert!(!world.path(".claude/state/runs").exists());
    world.run("two", json!({}));
    assert_eq!(world.settled()["state"], "complete");
}

#[test]
fn a_full_disk_pauses_the_run_until_there_is_space() {
    let (world, run_id) = working();
    let path = format!(".claude/state/runs/{run_id}/journal.jsonl");
    let failing = Failing::with(world.root(), libc::ENOSPC, state);
    let before = world.read(&path);
    world.write("go", "");
    wait("the lock", || lease::holder(&world.root()).is_none());
    let errors = notices(&world, "error");
    assert_eq!(errors.len(), 1, "{errors:?}");
    let said = "two is paused: cannot use the journal";
    assert!(
        errors[0].starts_with(said)
            && errors[0].contains("No space left")
            && errors[0].ends_with("fix that, then :Superpower resume two"),
        "{errors:?}"
    );
    assert_eq!(world.read(&path), before, "nothing half-written");
    let picture = world.status();
    assert_eq!((&picture["state"], &picture["current_stage"]), (&json!("paused"), &json!(1)), "{picture:#}");
    let message = world.refused("resume", json!({}), "disk");
    assert!(message.contains("No space left"), "{message}");
    drop(failing);
    let picture = world.status();
    assert_eq!((&picture["state"], &picture["reason"]), (&json!("paused"), &json!("interrupted")));
    world.ok("resume", json!({}));
    assert_eq!(world.settled()["state"], "complete");
    assert_eq!(world.calls(), ["a", "a", "b"], "what was not journalled counts as not done");
}

/// Writes that stop halfway leave no half line behind.
#[test]
fn a_decision_that_cannot_be_saved_is_not_made() {
    let world = World::new();
    world.declare("gate", "stages:\n  - {agent: a}\n  - {gate: human-approval}\n  - {agent: b}\n");
    let run_id = world.run("gate", json!({}));
    world.settled();
    let path = format!(".claude/state/runs/{run_id}/journal.jsonl");
    let before = world.read(&path);
    for op in [Op::Write, Op::Flush] {
        let failing = Failing::with(world.root(), libc::ENOSPC, move |at, path| {
            at == op && path.ends_with("journal.jsonl")
        });
        world.refused("decide", json!({ "decision": "approve" }), "disk");
        drop(failing);
        assert_eq!(world.settled()["gate"]["id"], "2.1");
    }
    // A line that was written but not flushed may be there; it was refused, so it must not count.
    assert_eq!(world.read(&path), before);
    assert_eq!(world.calls(), ["a"]);
    world.ok("decide", json!({ "decision": "reject" }));
    assert_eq!(world.settled()["state"], "rejected");
}

#[test]
fn a_missing_state_directory_is_noticed_and_not_recreated() {
    let (world, _) = working();
    let (state, aside) = (world.path(".claude/state"), world.path("aside"));
    fs::rename(&state, &aside).unwrap();
    world.write("go", "");
    wait("the message", || {
        let errors = notices(&world, "error");
        errors.iter().any(|error| {
            error.contains("cannot use the journal")
                && error.contains("No such file")
                && error.contains(
                    ":Superpower resume two; if it is lost for good, start again with :Superpower run two",
                )
        })
    });
    wait("the lock", || lease::holder(&world.root()).is_none());
    wait("the drive's end", || world.call("status", json!({}))["ok"] == Value::Null);
    let there = std::process::Command::new("find").arg(&state).output().unwrap();
    assert!(
        !state.exists(),
        "nothing half-written in its place:\n{}",
        String::from_utf8_lossy(&there.stdout)
    );
    // The directory returns, as a disk that is mounted again does.
    fs::rename(&aside, &state).unwrap();
    assert_eq!(world.status()["reason"], "interrupted");
    world.ok("resume", json!({}));
    assert_eq!(world.settled()["state"], "complete");
    // The directory does not return.
    fs::remove_dir_all(&state).unwrap();
    world.refused("resume", json!({}), "nothing-to-resume");
    world.run("two", json!({}));
    assert_eq!(world.settled()["state"], "complete");
}

#[test]
fn a_journal_that_others_replace_or_write_is_left_alone() {
    for replaced in [true, false] {
        let (world, run_id) = working();
        let path = world.path(&format!(".claude/state/runs/{run_id}/journal.jsonl"));
        let text = fs::read_to_string(&path).unwrap();
        if replaced {
            fs::write(path.with_extension("new"), &text).unwrap();
            fs::rename(path.with_extension("new"), &path).unwrap();
        } else {
            fs::write(
                &path,
                format!("{text}{{\"at\":\"2026-01-01T00:00:00Z\",\"event\":\"cancelled\",\"by\":\"bob\"}}\n"),
            )
            .unwrap();
        }
        let theirs = fs::read_to_string(&path).unwrap();
        world.write("go", "");
        wait("the lock", || lease::holder(&world.root()).is_none());
        assert_eq!(fs::read_to_string(&path).unwrap(), theirs);
        let errors = notices(&world, "error");
        assert!(errors.iter().any(|error| error.contains("while the run was active")), "{errors:?}");
        assert!(!world.opened(&run_id).run.phase.ended(), "what somebody else has written is not believed");
    }
}

#[test]
fn a_new_lease_holder_is_not_confused_with_the_previous_one() {
    let (world, run_id) = working();
    assert!(lease::holder(&world.root()).flatten().is_some_and(|holder| holder.run_id == run_id));
    world.write("go", "");
    world.settled();
    wait("the lock", || lease::holder(&world.root()).is_none());
    let _taken = lease::take(&world.root()).unwrap();
    assert_eq!(lease::holder(&world.root()), Some(None), "it has not said yet who it is");
}

#[test]
fn a_removed_lock_is_taken_again_or_ends_the_drive() {
    let (world, _) = working();
    let lock = lease::path(&world.root());
    fs::remove_file(&lock).unwrap();
    world.write("go", "");
    assert_eq!(world.settled()["state"], "complete", "nobody else had taken it");

    let (world, run_id) = working();
    fs::remove_file(lease::path(&world.root())).unwrap();
    let taken = lease::take(&world.root()).unwrap();
    assert!(matches!(taken, lease::Taken::Ours(_)), "whoever comes sees no lock");
    let path = world.path(&format!(".claude/state/runs/{run_id}/journal.jsonl"));
    let before = fs::read_to_string(&path).unwrap();
    world.write("go", "");
    wait("the message", || notices(&world, "error").iter().any(|it| it.contains("another editor")));
    drop(taken);
    assert_eq!(fs::read_to_string(&path).unwrap(), before, "never two drivers");
    wait("the lock", || lease::holder(&world.root()).is_none());
    world.ok("resume", json!({}));
    assert_eq!(world.settled()["state"], "complete");
}

/// An error with files that can be rebuilt causes one warning and nothing more.
#[test]
fn unwritable_projections_and_logs_do_not_stop_a_run() {
    for name in ["squad.json", "superpower.log"] {
        let world = World::new();
        world.declare("two", TWO);
        let failing = Failing::with(world.root(), libc::EACCES, named(name));
        let run_id = world.run("two", json!({}));
        wait("the end", || {
            open(&world.root(), &run_id, &world.keys()).is_ok_and(|opened| opened.run.phase.ended())
                && lease::holder(&world.root()).is_none()
        });
        drop(failing);
        let warnings = notices(&world, "warn");
        assert_eq!(warnings.len(), 1, "{name}: {warnings:?}");
        assert_eq!(world.calls(), ["a", "b"]);
        assert_eq!(world.ok("runs", json!({}))[0]["state"], "complete");
        world.refused("resume", json!({ "which": "two" }), "finished");
        assert_eq!(world.squad()["status"], "complete", "it is rebuilt from the journal");
    }
}

#[test]
fn a_prompt_that_cannot_be_written_starts_no_agent() {
    let world = World::new();
    world.declare("two", TWO);
    let failing = Failing::with(world.root(), libc::ENOSPC, named("prompt.md"));
    let run_id = world.run("two", json!({}));
    wait("the lock", || {
        open(&world.root(), &run_id, &world.keys()).is_ok() && lease::holder(&world.root()).is_none()
    });
    assert!(
        notices(&world, "error").iter().any(|error| error.contains("prompt") || error.contains("attempts"))
    );
    drop(failing);
    assert!(world.calls().is_empty());
    world.ok("resume", json!({}));
    assert_eq!(world.settled()["state"], "complete");
    assert!(world.records(&run_id).len() > 5);
}

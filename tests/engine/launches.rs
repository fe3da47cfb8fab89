//! Launches leave nothing in the engine or the launcher: no zombie, no descriptor, no memory.
//!
//! The test has 100 launches, or 1,000 with `SUPERPOWER_LONG=1`.
#![cfg(target_os = "linux")]

use super::alone::{alone, until_no_thread_is};
use super::launched::{ended, launch_in, start};
use std::path::Path;
use superpower::harness::*;
use superpower::outcome::Outcome;

fn count(folder: &str) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

/// The children of this process, of all threads, including zombies.
fn children() -> Vec<u32> {
    let threads = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let lists =
        threads.map(|thread| std::fs::read_to_string(thread.path().join("children")).unwrap_or_default());
    lists
        .flat_map(|list| list.split_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<_>>())
        .collect()
}

/// A value of the kernel about the memory of a process, in KiB.
fn memory(pid: u32, line: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let found = status.lines().find_map(|it| it.strip_prefix(line)).unwrap();
    found.split_whitespace().next().unwrap().parse().unwrap()
}

fn launch(folder: &Path) {
    let mut harnesses = Harnesses::default();
    harnesses.named.get_mut("command").unwrap().cmd = ["echo", "done"].map(ToOwned::to_owned).to_vec();
    let (_running, signals) = start("command", &harnesses, launch_in(folder));
    assert_eq!(ended(&signals).1.outcome, Outcome::Passed);
}

/// The open descriptors, once the threads of the last launch have ended.
fn own_descriptors() -> usize {
    for thread in ["superpower-agent", "superpower-watch", "superpower-stdin"] {
        until_no_thread_is(thread);
    }
    count("/proc/self/fd")
}

#[test]
fn many_launches_leave_nothing() {
    alone("launches::many_launches_leave_nothing", &[], || {
        let dir = tempfile::tempdir().unwrap();
        launch(dir.path());
        let [launcher] = *children() else { panic!("one launcher, and nothing else: {:?}", children()) };
        let list = format!("/proc/{launcher}/task/{launcher}/children");
        let reaped = || {
            super::escapes::wait_until("the last init is reaped", super::escapes::LONG, || {
                std::fs::read_to_string(&list).unwrap().is_empty()
            });
        };
        let kept = || {
            (own_descriptors(), count(&format!("/proc/{launcher}/fd")), count(dir.path().to_str().unwrap()))
        };
        reaped();
        let first = kept();
        let first_memory = memory(launcher, "RssAnon:");
        for _ in 0..if std::env::var_os("SUPERPOWER_LONG").is_some() { 1000 } else { 100 } {
            launch(dir.path());
        }
        assert_eq!(children(), [launcher]);
        reaped();
        // The first count may include descriptors of the first init.
        super::escapes::wait_until("no more is kept than at first", super::escapes::LONG, || {
            let now = kept();
            now.0 <= first.0 && now.1 <= first.1 && now.2 <= first.2
        });
        let now = memory(launcher, "RssAnon:");
        assert!(now < first_memory + 64, "{first_memory} KiB, then {now} KiB");
        // Its private memory, without the pages that it shares with other processes.
        assert!(now < 1024, "{now} KiB");
    });
}

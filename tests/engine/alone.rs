//! Runs a test in a process of its own, also under `cargo test`, by starting the test binary again.
//!
//! This is for tests of values that belong to a whole process: environment, threads, memory.

use std::process::Command;
use std::time::{Duration, Instant};

const ALONE: &str = "SUPERPOWER_TEST_ALONE";

/// Runs `test` in a process of its own with this environment. `name` is the test's name with its module.
pub fn alone(name: &str, environment: &[(&str, &str)], test: impl FnOnce()) {
    if std::env::var(ALONE).is_ok_and(|it| it == name) {
        return test();
    }
    let done = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(ALONE, name)
        .env_remove("SUPERPOWER_RUN_ID")
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    let errors = String::from_utf8_lossy(&done.stderr);
    // A wrong name would run no test and succeed.
    assert!(done.status.success() && said.contains("1 passed"), "{name}: {said}\n{errors}");
}

/// Waits until no thread of this process has this name. Only for a test in a process of its own.
pub fn until_no_thread_is(name: &str) {
    // The kernel truncates names to this length.
    let known = &name[..name.len().min(15)];
    let is = |task: std::io::Result<std::fs::DirEntry>| {
        let its = std::fs::read_to_string(task.unwrap().path().join("comm")).unwrap_or_default();
        its.trim_end() == known
    };
    let end = Instant::now() + Duration::from_secs(20);
    while std::fs::read_dir("/proc/self/task").unwrap().any(is) {
        assert!(Instant::now() < end, "the thread {name} does not end");
        std::thread::sleep(Duration::from_millis(2));
    }
}

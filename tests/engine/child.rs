//! The other process of a test: an editor that is killed, another writer, one with an environment of its own.
//!
//! It is the example `test-child` (`tests/child/`), not a test that returns at once where nobody started it: so
//! every test that is counted has tested something.

use std::process::{Command, Stdio};

/// A process that does `job`. It belongs to no run.
pub fn child(job: &str) -> Command {
    let tests = std::env::current_exe().unwrap();
    // Cargo puts the tests in `deps`, and examples beside that folder.
    let program = tests.parent().unwrap().with_file_name("examples").join("test-child");
    assert!(program.is_file(), "{} is missing; build it with cargo build --examples", program.display());
    let mut command = Command::new(program);
    command.arg(job).env_remove("SUPERPOWER_RUN_ID").env_remove("SUPERPOWER_FAULT");
    command.stdout(Stdio::null());
    command
}

//! The second process of a test: an editor that is killed, another writer, or one with another environment.
//!
//! It is the example `test-child` (`tests/child/`) and not a test, because a test that does nothing unless another test
//! starts it would be counted as passed.

use std::process::{Command, Stdio};

/// A process that performs `job`. It belongs to no run.
pub fn child(job: &str) -> Command {
    let tests = std::env::current_exe().unwrap();
    // Cargo puts tests into `deps`, and examples into a directory beside it.
    let program = tests.parent().unwrap().with_file_name("examples").join("test-child");
    assert!(program.is_file(), "{} is missing; build it with cargo build --examples", program.display());
    let mut command = Command::new(program);
    command.arg(job).env_remove("SUPERPOWER_RUN_ID").env_remove("SUPERPOWER_FAULT");
    command.stdout(Stdio::null());
    command
}

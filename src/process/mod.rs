//! Processes of agents, supervised: nothing here knows what an agent is.
//!
//! A process gets a group of its own and the run's mark in its environment; its input is written and its output
//! read by threads that block, so that a busy editor delays nothing. Whoever holds a [`Process`] pulls [`Event`]s
//! from it. The limits and the way from a polite stop to the last descendant's end are inside, by construction, so
//! that no harness can forget them.
//!
//! Time is [`std::time::Instant`], which stands still while the machine sleeps (`CLOCK_MONOTONIC` on Linux,
//! `CLOCK_UPTIME_RAW` on macOS). Nothing is built on SIGCHLD, which belongs to the editor.

mod ending;
mod environment;
mod guard;
mod identity;
mod inbox;
mod leader;
mod lines;
mod output;
mod pipe;
mod program;
mod secrets;
mod spawn;
mod supervise;
mod sweep;
mod tree;
mod web;

pub use environment::Environment;
pub use guard::program as guard_program;
pub use identity::{alive, record};
pub use inbox::Inbox;
pub use leader::{Exit, Leader};
pub use lines::{Line, Lines};
pub use program::{NotFound, Places, find_program};
pub use secrets::{Masker, Secrets};
pub use spawn::{Item, Stdin, Stream, spawn};
pub use supervise::{Event, Limit, Process};
pub use sweep::sweep;
pub use tree::{ATTEMPT, RUN_ID};
pub use web::{Request, Server, Way};

use crate::store::beneath::Door;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// The variable that carries the stage's position.
pub const STAGE: &str = "SUPERPOWER_STAGE";

/// What to start, and within which limits.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Absolute path of the program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables beside the scrubbed environment and the mark.
    pub env: Vec<(String, String)>,
    /// Where it works.
    pub root: PathBuf,
    /// What its input is.
    pub stdin: Stdin,
    /// The file that its output is appended to.
    pub log: PathBuf,
    /// The door to that file.
    pub door: Door,
    /// How large that file may grow by this process.
    pub max_output: u64,
    /// How long a line may be.
    pub max_line: usize,
    /// Wall clock.
    pub timeout: Option<Duration>,
    /// Silence.
    pub idle: Option<Duration>,
    /// Whose process it is.
    pub mark: Mark,
}

/// Whose process it is: what every descendant carries in its environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The run.
    pub run_id: String,
    /// The stage's position, from 1.
    pub stage: usize,
    /// The launch within the run, from 1.
    pub launch: u32,
}

/// How long the leader may take over its own way to stop, before its group gets TERM.
pub const POLITE: Duration = Duration::from_millis(1000);
/// How long the group may take over TERM, before it gets KILL.
pub const TERM: Duration = Duration::from_millis(400);
/// How long what outlived its leader may take over TERM, before it gets KILL.
pub const LEFTOVER: Duration = Duration::from_millis(250);
/// Reading ends this long after the exit: a process that escaped may hold the pipe for ever.
pub const READ_AFTER_EXIT: Duration = Duration::from_millis(500);

/// The lock's content, whatever a panicking thread left of it.
pub(crate) fn locked<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

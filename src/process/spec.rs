//! What to start, whose process it is, and how long each step of its end may take.

use crate::store::beneath::Door;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// What a process's standard input is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stdin {
    /// This, and then its end.
    Once(Vec<u8>),
    /// What [`Process::write`] gives, until [`Process::close_stdin`].
    Duplex,
}

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

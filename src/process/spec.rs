//! What to start, with its limits and its mark, and the time limits for the steps of a stop.

use crate::store::beneath::Door;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// A process's standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stdin {
    /// These bytes, and then the end.
    Once(Vec<u8>),
    /// Everything given to `Process::write`, until `Process::close_stdin`.
    Duplex,
}

/// The variable that carries the stage's position.
pub const STAGE: &str = "SUPERPOWER_STAGE";

/// What to start, with its limits.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Absolute path of the program.
    pub program: PathBuf,
    pub args: Vec<OsString>,
    /// Variables in addition to the user's environment and the mark.
    pub env: Vec<(String, String)>,
    /// The working directory.
    pub root: PathBuf,
    pub stdin: Stdin,
    /// The file that its output is appended to.
    pub log: PathBuf,
    /// The door through which that file is opened.
    pub door: Door,
    /// Maximum number of bytes that this process may add to that file.
    pub max_output: u64,
    /// Maximum length of a line, in bytes.
    pub max_line: usize,
    /// The total time limit.
    pub timeout: Option<Duration>,
    /// The time limit without output.
    pub idle: Option<Duration>,
    pub mark: Mark,
}

/// The launch that a process belongs to. Every descendant has this in its environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    pub run_id: String,
    /// The stage's position, from 1.
    pub stage: usize,
    /// The launch within the run, from 1.
    pub launch: u32,
}

/// Time for the process to stop in its own way, before its group gets SIGTERM.
pub const POLITE: Duration = Duration::from_millis(1000);
/// Time for the group to end after SIGTERM, before it gets SIGKILL.
pub const TERM: Duration = Duration::from_millis(400);
/// Time for leftover descendants to end after SIGTERM, before they get SIGKILL.
pub const LEFTOVER: Duration = Duration::from_millis(250);
/// How long to read after the exit. An escaped process may keep the pipe open forever.
pub const READ_AFTER_EXIT: Duration = Duration::from_millis(500);

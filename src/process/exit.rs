//! How a process ended.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this status.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// Not at all: not even KILL ends it, as when it waits for a dead disk.
    Stuck,
}

impl Exit {
    /// What a status says.
    pub(super) fn of(status: ExitStatus) -> Self {
        let code = status.code().map(Self::Code);
        code.or_else(|| status.signal().map(Self::Signal)).unwrap_or(Self::Stuck)
    }
}

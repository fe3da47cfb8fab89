//! How a process ended.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this status.
    Code(i32),
    /// It was ended by this signal.
    Signal(i32),
    /// Not even SIGKILL ended it, for example because it waits for a disk that does not respond.
    Stuck,
}

impl Exit {
    pub(super) fn of(status: ExitStatus) -> Self {
        let code = status.code().map(Self::Code);
        code.or_else(|| status.signal().map(Self::Signal)).unwrap_or(Self::Stuck)
    }
}

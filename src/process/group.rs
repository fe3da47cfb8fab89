//! A program as a child of the engine and leader of a process group, for systems where no process can adopt its orphans.
//!
//! Its descendants are found by repeated scans, so that one that leaves the group is known before its parent exits. The
//! process id stays reserved until the process is reaped; nothing is signalled after that.

use super::Exit;
use super::guard_client::Guarded;
use super::tree::{self, ProcessSet};
use crate::sync::locked;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::os::fd::OwnedFd;
use std::process::Child;
use std::sync::Mutex;

/// A child process that leads a group.
#[derive(Debug)]
pub struct Group {
    pid: u32,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    child: Option<Child>,
    /// Dropped when everything has ended, which reports it to the guard.
    guarded: Option<Guarded>,
    reaped: Option<Exit>,
    processes: ProcessSet,
}

impl Group {
    pub fn new(child: Child, guarded: Guarded) -> Self {
        let pid = child.id();
        let state =
            State { child: Some(child), guarded: Some(guarded), reaped: None, processes: ProcessSet::new() };
        Self { pid, state: Mutex::new(state) }
    }

    /// A descriptor that is readable when it has exited; `None` if the system has none, use [`Group::wait`] then.
    #[cfg(target_os = "linux")]
    pub fn exit_fd(&self) -> Option<OwnedFd> {
        rustix::process::pidfd_open(self.id()?, rustix::process::PidfdFlags::empty()).ok()
    }

    #[cfg(not(target_os = "linux"))]
    pub fn exit_fd(&self) -> Option<OwnedFd> {
        None
    }

    /// Waits until it has exited, and does not reap it, so that its id stays reserved.
    pub fn wait(&self) {
        let Some(pid) = self.id() else { return };
        let kept = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while waitid(WaitId::Pid(pid), kept).is_err_and(|error| error == Errno::INTR) {}
    }

    /// Records its current descendants.
    pub fn scan(&self) {
        let found = tree::descendants(self.pid);
        let mut state = locked(&self.state);
        state.processes.retain(|&pid, &mut start_time| tree::lives(pid, start_time));
        state.processes.extend(found);
    }

    /// The descendants found so far.
    pub fn processes(&self) -> ProcessSet {
        locked(&self.state).processes.clone()
    }

    /// Sends a signal to the group.
    pub fn signal(&self, signal: Signal) {
        let state = locked(&self.state);
        // The id is still ours, because the leader is not reaped.
        if let Some(pid) = self.id().filter(|_| state.reaped.is_none()) {
            // An error means that the group has ended.
            let _ = kill_process_group(pid, signal);
        }
    }

    /// Takes its exit status; after that its id may be used by another process. Waits for its exit, which may never come,
    /// so the wait is outside of the lock that signalling needs.
    pub fn reap(&self) -> Exit {
        self.wait();
        let mut state = locked(&self.state);
        if let Some(exit) = state.reaped {
            return exit;
        }
        state.guarded = None;
        let Some(Ok(status)) = state.child.as_mut().map(Child::wait) else { return Exit::Stuck };
        state.child = None;
        let exit = Exit::of(status);
        state.reaped = Some(exit);
        exit
    }

    fn id(&self) -> Option<Pid> {
        self.pid.try_into().ok().and_then(Pid::from_raw)
    }
}

//! A program as a child of the engine, at the head of a group: the way where no process can adopt the orphans below it.
//!
//! What descends from it is looked up again and again, so that one which cuts itself loose is known. Its id stays its
//! own until it is reaped, and nothing signals it after that.

use super::Exit;
use super::guard_client::Guarded;
use super::tree::{self, Kin};
use crate::sync::locked;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::os::fd::OwnedFd;
use std::process::Child;
use std::sync::Mutex;

/// A process that leads a group.
#[derive(Debug)]
pub struct Group {
    pid: u32,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    child: Option<Child>,
    /// Dropped after all of it is ended.
    guarded: Option<Guarded>,
    reaped: Option<Exit>,
    kin: Kin,
}

impl Group {
    pub fn new(child: Child, guarded: Guarded) -> Self {
        let pid = child.id();
        let state = State { child: Some(child), guarded: Some(guarded), reaped: None, kin: Kin::new() };
        Self { pid, state: Mutex::new(state) }
    }

    /// What becomes ready at its death, which leaves it to be reaped; where the system has nothing like it, there is
    /// [`Group::wait`].
    #[cfg(target_os = "linux")]
    pub fn death(&self) -> Option<OwnedFd> {
        rustix::process::pidfd_open(self.id()?, rustix::process::PidfdFlags::empty()).ok()
    }

    #[cfg(not(target_os = "linux"))]
    pub fn death(&self) -> Option<OwnedFd> {
        None
    }

    /// Waits for its death, and leaves it to be reaped: until then nobody else gets its id.
    pub fn wait(&self) {
        let Some(pid) = self.id() else { return };
        let kept = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while waitid(WaitId::Pid(pid), kept).is_err_and(|error| error == Errno::INTR) {}
    }

    /// Notes who descends from it now.
    pub fn look(&self) {
        let found = tree::descendants(self.pid);
        let mut state = locked(&self.state);
        state.kin.retain(|&pid, &mut start_time| tree::lives(pid, start_time));
        state.kin.extend(found);
    }

    /// Those that were found so far.
    pub fn kin(&self) -> Kin {
        locked(&self.state).kin.clone()
    }

    /// Sends a signal to the group.
    pub fn signal(&self, signal: Signal) {
        let state = locked(&self.state);
        // The group is ours, since its leader is not reaped.
        if let Some(pid) = self.id().filter(|_| state.reaped.is_none()) {
            // One that is gone has heard it.
            let _ = kill_process_group(pid, signal);
        }
    }

    /// Takes its status, after which its id is anybody's. Waits for its death, which may never come; whoever signals it
    /// until then must not wait for the lock.
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

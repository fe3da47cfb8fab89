//! The process that was started, as the head of all that it starts. Its id stays its own until it is reaped, and
//! nothing signals it after that.

use super::ending::end;
use super::sweep::leftovers;
use super::tree::{self, Kin};
use super::{LEFTOVER, Mark, TERM};
use crate::outcome::ProcessRecord;
use crate::sync::locked;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::Child;
use std::sync::Mutex;
use std::time::{Duration, Instant};

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

/// A process that leads a group.
#[derive(Debug)]
pub struct Leader {
    /// Which process it is.
    pub record: ProcessRecord,
    mark: Mark,
    born: Instant,
    state: Mutex<State>,
}

/// The descendants of a process that lived no longer than this are few, and among the newest ids.
const BRIEF: Duration = Duration::from_millis(500);

#[derive(Debug)]
struct State {
    reaped: bool,
    kin: Kin,
    term: Duration,
}

impl Leader {
    pub(super) fn new(pid: u32, mark: Mark) -> Self {
        let unknown = ProcessRecord { pid, start_time: 0, boot_id: String::new() };
        let state = State { reaped: false, kin: Kin::new(), term: TERM };
        Self {
            record: super::record(pid).unwrap_or(unknown),
            mark,
            born: Instant::now(),
            state: Mutex::new(state),
        }
    }

    /// What becomes ready at its death, which leaves it to be reaped; where the system has nothing like it, there is
    /// [`Leader::wait`].
    #[cfg(target_os = "linux")]
    pub(super) fn death(&self) -> Option<OwnedFd> {
        rustix::process::pidfd_open(self.pid()?, rustix::process::PidfdFlags::empty()).ok()
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn death(&self) -> Option<OwnedFd> {
        None
    }

    /// Waits for its death, and leaves it to be reaped: until then nobody else gets its id.
    pub(super) fn wait(&self) {
        let Some(pid) = self.pid() else { return };
        let kept = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while waitid(WaitId::Pid(pid), kept).is_err_and(|error| error == Errno::INTR) {}
    }

    /// Notes who descends from it now.
    pub(super) fn look(&self) {
        let found = tree::descendants(self.record.pid);
        let mut state = locked(&self.state);
        state.kin.retain(|&pid, &mut start_time| tree::lives(pid, start_time));
        state.kin.extend(found);
    }

    pub(super) fn set_term(&self, term: Duration) {
        locked(&self.state).term = term;
    }

    pub(super) fn term(&self) -> Duration {
        locked(&self.state).term
    }

    /// Sends a signal to its group.
    pub(super) fn signal(&self, signal: Signal) {
        let state = locked(&self.state);
        // The group is ours, since its leader is not reaped.
        if let Some(pid) = self.pid().filter(|_| !state.reaped) {
            // One that is gone has heard it.
            let _ = kill_process_group(pid, signal);
        }
    }

    fn pid(&self) -> Option<Pid> {
        self.record.pid.try_into().ok().and_then(Pid::from_raw)
    }

    /// Kills its group and all that is known to descend from it.
    pub(super) fn kill(&self) {
        self.look();
        self.signal(Signal::KILL);
        let kin = locked(&self.state).kin.clone();
        tree::signal(&leftovers(&self.mark, &kin), libc::SIGKILL);
    }

    /// Ends what outlived it.
    pub(super) fn end_rest(&self) {
        if self.left_nothing() {
            return;
        }
        self.look();
        let kin = locked(&self.state).kin.clone();
        let more = || leftovers(&self.mark, &tree::descendants(self.record.pid));
        end(&mut leftovers(&self.mark, &kin), LEFTOVER, more);
    }

    /// Whether it is certain, at little cost, that a process which did not live long has left nothing: whatever
    /// descends from it is younger, and ids are given in turn.
    fn left_nothing(&self) -> bool {
        if self.born.elapsed() > BRIEF || !locked(&self.state).kin.is_empty() {
            return false;
        }
        let leader = self.record.pid;
        let ours = |pid: u32| {
            // Our own threads have ids of the same kind.
            if std::path::Path::new(&format!("/proc/self/task/{pid}")).exists() {
                return false;
            }
            let Some(stat) = tree::stat(pid).filter(|stat| !stat.dead) else { return false };
            if stat.group == leader || stat.parent == leader {
                return true;
            }
            // One that is just being started has no environment yet: it may be anybody's, but for the kernel's own.
            let environ = tree::environ(pid).filter(|environ| !environ.is_empty());
            environ.map_or(stat.parent != KERNEL, |environ| {
                tree::carries(&environ, &self.mark.run_id, Some(self.mark.launch))
            })
        };
        newer(leader).is_some_and(|mut ids| !ids.any(ours))
    }

    /// Ends it and all that it started, from whatever thread, whether or not anybody supervises it still.
    pub fn end_now(&self) {
        let until = Instant::now() + Duration::from_secs(1);
        self.kill();
        while tree::lives(self.record.pid, self.record.start_time) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        let kin = locked(&self.state).kin.clone();
        let more = || leftovers(&self.mark, &Kin::new());
        end(&mut leftovers(&self.mark, &kin), Duration::ZERO, more);
    }
}

/// The parent of the kernel's own threads.
const KERNEL: u32 = 2;

/// The ids that were given after this one, if they are few. Unknown where ids may have begun anew since.
#[cfg(target_os = "linux")]
fn newer(pid: u32) -> Option<std::ops::RangeInclusive<u32>> {
    /// So many are looked at one by one.
    const FEW: u32 = 64;
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    let newest: u32 = text.split_whitespace().last()?.parse().ok()?;
    (newest >= pid && newest - pid <= FEW).then(|| pid + 1..=newest)
}

#[cfg(not(target_os = "linux"))]
fn newer(_pid: u32) -> Option<std::ops::RangeInclusive<u32>> {
    None
}

/// Takes its status, after which its id is anybody's.
pub(super) fn reaped(leader: &Leader, child: Option<Child>) -> Exit {
    let Some(mut child) = child else { return Exit::Stuck };
    // Its death may never come, and whoever signals it until then must not wait for the lock.
    leader.wait();
    let mut state = locked(&leader.state);
    match child.wait() {
        Ok(status) => {
            state.reaped = true;
            let code = status.code().map(Exit::Code);
            code.or_else(|| status.signal().map(Exit::Signal)).unwrap_or(Exit::Stuck)
        }
        Err(_) => Exit::Stuck,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    #[test]
    fn whoever_waits_for_its_death_keeps_nobody_from_signalling_it() {
        let child = Command::new("sleep").arg("600").process_group(0).spawn().unwrap();
        let mark = Mark { run_id: "r".to_owned(), stage: 1, launch: 1 };
        let leader = Leader::new(child.id(), mark);
        std::thread::scope(|scope| {
            let reaper = scope.spawn(|| reaped(&leader, Some(child)));
            std::thread::sleep(Duration::from_millis(50));
            leader.signal(Signal::TERM);
            assert_eq!(reaper.join().unwrap(), Exit::Signal(libc::SIGTERM));
        });
    }
}

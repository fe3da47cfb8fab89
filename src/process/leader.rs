//! The process of a launch, and what is needed to signal, wait for and end it with all its descendants.

use super::group::Group;
use super::init_client::InitClient;
use super::launch_protocol::Command;
use super::sweep::{leftovers, named};
use super::terminate::terminate;
use super::tree::{self, ProcessSet};
use super::{Exit, LEFTOVER, Mark, TERM};
use crate::outcome::ProcessRecord;
use crate::sync::locked;
use rustix::process::Signal;
use std::os::fd::OwnedFd;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The process of a launch.
#[derive(Debug)]
pub struct Leader {
    pub record: ProcessRecord,
    mark: Mark,
    started: Instant,
    term: Mutex<Duration>,
    hold: Hold,
    /// The processes that survived SIGKILL.
    left: Mutex<Vec<String>>,
}

/// How its descendants are found.
#[derive(Debug)]
pub(super) enum Hold {
    /// All of them stay below an init.
    Init(InitClient),
    /// By group and parent, with repeated scans.
    Group(Group),
}

/// How long to wait for killed processes to end.
const KILL_WAIT: Duration = Duration::from_secs(1);
/// How long to wait for leftover processes, which may be thousands, before the run continues.
const LEFTOVER_WAIT: Duration = Duration::from_secs(8);

/// The descendants of a process that lived shorter than this are few, and have the newest process ids.
const SHORT_LIFE: Duration = Duration::from_millis(500);

impl Leader {
    pub(super) fn new(record: ProcessRecord, mark: Mark, hold: Hold) -> Self {
        Self { record, mark, started: Instant::now(), term: Mutex::new(TERM), hold, left: Mutex::default() }
    }

    /// A descriptor that is readable when it has exited, and perhaps before. `None` if the system has none; use
    /// [`Leader::wait`] then.
    pub(super) fn exit_fd(&self) -> Option<OwnedFd> {
        match &self.hold {
            Hold::Init(init) => init.answers().ok(),
            Hold::Group(group) => group.exit_fd(),
        }
    }

    /// Whether it has exited, when [`Leader::exit_fd`] is readable.
    pub(super) fn has_exited(&self) -> bool {
        match &self.hold {
            Hold::Init(init) => init.ended(),
            Hold::Group(_) => true,
        }
    }

    /// Waits until it has exited.
    pub(super) fn wait(&self) {
        match &self.hold {
            Hold::Init(init) => init.wait(),
            Hold::Group(group) => group.wait(),
        }
    }

    /// Records its current descendants. An init needs no such scan, but it is continued if something has stopped it.
    pub(super) fn scan(&self) {
        match &self.hold {
            Hold::Init(init) => wake(init),
            Hold::Group(group) => group.scan(),
        }
    }

    pub(super) fn set_term(&self, term: Duration) {
        *locked(&self.term) = term;
    }

    pub(super) fn term(&self) -> Duration {
        *locked(&self.term)
    }

    /// Sends a signal to its group.
    pub(super) fn signal(&self, signal: Signal) {
        match &self.hold {
            Hold::Init(init) => init.send(Command::Signal(signal.as_raw() as u8)),
            Hold::Group(group) => group.signal(signal),
        }
    }

    /// Kills it and all its descendants.
    pub(super) fn kill(&self) {
        match &self.hold {
            Hold::Init(init) => {
                init.send(Command::Kill);
                wake(init);
            }
            Hold::Group(group) => {
                group.scan();
                group.signal(Signal::KILL);
            }
        }
        tree::signal(&self.leftovers(&self.known()), libc::SIGKILL);
    }

    /// Ends the descendants that outlived it. The wait for an init is short if the launch is being stopped, because a user
    /// may wait for that; otherwise it is long, because the run would continue beside the leftovers.
    pub(super) fn end_rest(&self, stopping: bool) {
        if let Hold::Init(init) = &self.hold
            && !init.is_over()
        {
            init.send(Command::End);
            wake(init);
            init.wait_over(LEFTOVER + if stopping { KILL_WAIT } else { LEFTOVER_WAIT });
        }
        if self.left_nothing() {
            return;
        }
        self.scan();
        let pid = self.record.pid;
        let more = || match &self.hold {
            Hold::Init(init) => self.leftovers(&init.below()),
            Hold::Group(_) => self.leftovers(&tree::descendants(pid)),
        };
        let mut rest = self.leftovers(&self.known());
        terminate(&mut rest, LEFTOVER, more);
        let lives = |(&pid, &start_time): (&u32, &u64)| tree::lives(pid, start_time).then(|| named(pid));
        *locked(&self.left) = rest.iter().filter_map(lives).collect();
    }

    /// The processes that survived SIGKILL, after [`Leader::end_rest`]: uninterruptible ones, and those of another user.
    pub(super) fn left(&self) -> Vec<String> {
        locked(&self.left).clone()
    }

    fn leftovers(&self, known: &ProcessSet) -> ProcessSet {
        let lost = matches!(&self.hold, Hold::Init(init) if init.is_lost() || !init.is_over());
        leftovers(&self.mark, known, lost)
    }

    /// The descendants that are known.
    fn known(&self) -> ProcessSet {
        match &self.hold {
            Hold::Init(init) => init.below(),
            Hold::Group(group) => group.processes(),
        }
    }

    /// Takes its exit status. Waits for its exit, except under an init, which reaps it.
    pub(super) fn reap(&self) -> Exit {
        match &self.hold {
            Hold::Init(init) => init.exit().unwrap_or(Exit::Stuck),
            Hold::Group(group) => group.reap(),
        }
    }

    /// How it ended, if it could not be reaped in time.
    pub(super) fn unreaped(&self) -> Exit {
        if tree::lives(self.record.pid, self.record.start_time) {
            Exit::Stuck
        } else {
            Exit::Signal(libc::SIGKILL)
        }
    }

    /// Whether [`Leader::reap`] may block forever.
    pub(super) const fn reaping_waits(&self) -> bool {
        matches!(self.hold, Hold::Group(_))
    }

    /// Whether a process that lived only briefly has certainly left nothing. This is a cheap check, because its descendants
    /// are younger and ids are assigned in order.
    fn left_nothing(&self) -> bool {
        let lost = matches!(&self.hold, Hold::Init(init) if init.is_lost());
        if lost || self.started.elapsed() > SHORT_LIFE || !self.known().is_empty() {
            return false;
        }
        let leader = self.record.pid;
        let ours = |pid: u32| {
            // Threads of this process use ids of the same sequence.
            if std::path::Path::new(&format!("/proc/self/task/{pid}")).exists() {
                return false;
            }
            let Some(stat) = tree::stat(pid).filter(|stat| !stat.dead) else { return false };
            if stat.group == leader || stat.parent == leader {
                return true;
            }
            // A process that is just being started has no environment yet. It may be a descendant, unless it is the kernel's.
            let environ = tree::environ(pid).filter(|environ| !environ.is_empty());
            environ.map_or(stat.parent != KERNEL, |environ| {
                tree::carries(&environ, &self.mark.run_id, Some(self.mark.launch))
            })
        };
        newer(leader).is_some_and(|mut ids| !ids.any(ours))
    }

    /// Ends it and its descendants, on any thread, even if its [`super::Process`] is not used any more.
    pub fn end_now(&self) {
        self.kill();
        match &self.hold {
            Hold::Init(init) => _ = init.wait_over(KILL_WAIT),
            Hold::Group(_) => {
                let until = Instant::now() + KILL_WAIT;
                while tree::lives(self.record.pid, self.record.start_time) && Instant::now() < until {
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
        }
        let more = || self.leftovers(&ProcessSet::new());
        terminate(&mut self.leftovers(&self.known()), Duration::ZERO, more);
    }
}

/// Continues an init, and the launcher that takes over if the init is killed, in case something has stopped them.
fn wake(init: &InitClient) {
    init.wake();
    #[cfg(target_os = "linux")]
    super::launcher_client::wake();
}

/// The parent of the kernel's own threads.
const KERNEL: u32 = 2;

/// The ids that were assigned after this one, if they are few; `None` if the sequence may have restarted.
#[cfg(target_os = "linux")]
fn newer(pid: u32) -> Option<std::ops::RangeInclusive<u32>> {
    /// Maximum number of ids to check.
    const FEW: u32 = 64;
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    let newest: u32 = text.split_whitespace().last()?.parse().ok()?;
    (newest >= pid && newest - pid <= FEW).then(|| pid + 1..=newest)
}

#[cfg(not(target_os = "linux"))]
fn newer(_pid: u32) -> Option<std::ops::RangeInclusive<u32>> {
    None
}

#[cfg(test)]
mod tests {
    use super::super::guard_client;
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    #[test]
    fn a_process_can_be_signalled_while_a_thread_waits_for_its_exit() {
        let child = Command::new("sleep").arg("600").process_group(0).spawn().unwrap();
        let mark = Mark { run_id: "r".to_owned(), stage: 1, launch: 1 };
        let record = super::super::record(child.id()).unwrap();
        let hold = Hold::Group(Group::new(child, guard_client::announce(&mark)));
        let leader = Leader::new(record, mark, hold);
        std::thread::scope(|scope| {
            let reaper = scope.spawn(|| leader.reap());
            std::thread::sleep(Duration::from_millis(50));
            leader.signal(Signal::TERM);
            assert_eq!(reaper.join().unwrap(), Exit::Signal(libc::SIGTERM));
        });
    }
}

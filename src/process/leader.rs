//! The process that was started, as the head of all that it starts.

use super::group::Group;
use super::init_client::InitClient;
use super::launch_protocol::Command;
use super::sweep::leftovers;
use super::terminate::terminate;
use super::tree::{self, Kin};
use super::{Exit, LEFTOVER, Mark, TERM};
use crate::outcome::ProcessRecord;
use crate::sync::locked;
use rustix::process::Signal;
use std::os::fd::OwnedFd;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A process at the head of all that it starts.
#[derive(Debug)]
pub struct Leader {
    /// Which process it is.
    pub record: ProcessRecord,
    mark: Mark,
    born: Instant,
    term: Mutex<Duration>,
    hold: Hold,
}

/// What keeps its descendants together.
#[derive(Debug)]
pub(super) enum Hold {
    /// An init, below which all of them stay.
    Init(InitClient),
    /// Their group, and that they are looked up.
    Group(Group),
}

/// How long what is to be ended at once may take to be gone.
const GONE: Duration = Duration::from_secs(1);
/// How long thousands that outlived their agent may take, before it is given up that all of them are gone.
const CROWD: Duration = Duration::from_secs(8);

/// The descendants of a process that lived no longer than this are few, and among the newest ids.
const BRIEF: Duration = Duration::from_millis(500);

impl Leader {
    pub(super) fn new(record: ProcessRecord, mark: Mark, hold: Hold) -> Self {
        Self { record, mark, born: Instant::now(), term: Mutex::new(TERM), hold }
    }

    /// What becomes ready at its death, and perhaps before; where there is nothing like it, there is [`Leader::wait`].
    pub(super) fn death(&self) -> Option<OwnedFd> {
        match &self.hold {
            Hold::Init(init) => init.news().ok(),
            Hold::Group(group) => group.death(),
        }
    }

    /// Whether it is dead, where [`Leader::death`] is ready.
    pub(super) fn is_dead(&self) -> bool {
        match &self.hold {
            Hold::Init(init) => init.ended(),
            Hold::Group(_) => true,
        }
    }

    /// Waits for its death.
    pub(super) fn wait(&self) {
        match &self.hold {
            Hold::Init(init) => init.wait(),
            Hold::Group(group) => group.wait(),
        }
    }

    /// Notes who descends from it now, where that is not known anyway.
    pub(super) fn look(&self) {
        if let Hold::Group(group) = &self.hold {
            group.look();
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
            Hold::Init(init) => init.tell(Command::Signal(signal.as_raw() as u8)),
            Hold::Group(group) => group.signal(signal),
        }
    }

    /// Kills all that descends from it.
    pub(super) fn kill(&self) {
        match &self.hold {
            Hold::Init(init) => init.tell(Command::Kill),
            Hold::Group(group) => {
                group.look();
                group.signal(Signal::KILL);
            }
        }
        tree::signal(&leftovers(&self.mark, &self.known()), libc::SIGKILL);
    }

    /// Ends what outlived it. While somebody waits for the end of a launch that is stopped, a crowd is left to its init
    /// sooner than where the run would go on beside it.
    pub(super) fn end_rest(&self, stopping: bool) {
        if let Hold::Init(init) = &self.hold
            && !init.is_over()
        {
            init.tell(Command::End);
            init.wait_over(LEFTOVER + if stopping { GONE } else { CROWD });
        }
        if self.left_nothing() {
            return;
        }
        self.look();
        let pid = self.record.pid;
        let more = || match &self.hold {
            Hold::Init(_) => leftovers(&self.mark, &Kin::new()),
            Hold::Group(_) => leftovers(&self.mark, &tree::descendants(pid)),
        };
        terminate(&mut leftovers(&self.mark, &self.known()), LEFTOVER, more);
    }

    /// What descends from it and is not below an init.
    fn known(&self) -> Kin {
        match &self.hold {
            Hold::Init(_) => Kin::new(),
            Hold::Group(group) => group.kin(),
        }
    }

    /// Takes its status. Waits for its death, but for that of one whose init will see to it.
    pub(super) fn reap(&self) -> Exit {
        match &self.hold {
            Hold::Init(init) => init.exit().unwrap_or(Exit::Stuck),
            Hold::Group(group) => group.reap(),
        }
    }

    /// Whether [`Leader::reap`] may wait for ever.
    pub(super) const fn reaping_waits(&self) -> bool {
        matches!(self.hold, Hold::Group(_))
    }

    /// Whether it is certain, at little cost, that a process which did not live long has left nothing: whatever
    /// descends from it is younger, and ids are given in turn.
    fn left_nothing(&self) -> bool {
        if self.born.elapsed() > BRIEF || !self.known().is_empty() {
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
        self.kill();
        match &self.hold {
            Hold::Init(init) => _ = init.wait_over(GONE),
            Hold::Group(_) => {
                let until = Instant::now() + GONE;
                while tree::lives(self.record.pid, self.record.start_time) && Instant::now() < until {
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
        }
        let more = || leftovers(&self.mark, &Kin::new());
        terminate(&mut leftovers(&self.mark, &self.known()), Duration::ZERO, more);
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

#[cfg(test)]
mod tests {
    use super::super::guard_client;
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    #[test]
    fn whoever_waits_for_its_death_keeps_nobody_from_signalling_it() {
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

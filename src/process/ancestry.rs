//! Whether this process descends from a launch: one that an agent, a check or a setup command started.
//!
//! What a launch starts stays below its init whatever it does, so an init among the ancestors says so. Where ancestors
//! cannot be seen, or no init keeps them, the marks in the environment have to do.

#[cfg(target_os = "linux")]
use super::launch_protocol::{INIT, LAUNCHER};
#[cfg(target_os = "linux")]
use super::tree;

/// What is known of a process's ancestors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ancestry {
    /// It descends from a launch.
    Launched,
    /// It descends from none.
    Free,
    /// That cannot be told here.
    Unknown,
}

/// So many times an ancestor may end while it is looked at, which gives the process another one.
#[cfg(target_os = "linux")]
const TRIES: u32 = 5;

/// What is known of this process's ancestors.
#[cfg(target_os = "linux")]
pub fn ancestry() -> Ancestry {
    // By this name, since the ids that /proc shows may be those of another namespace.
    known(tree::own_stat)
}

/// What is known of the ancestors of another process; nothing where it has ended, or is in another namespace.
#[cfg(target_os = "linux")]
pub fn ancestry_of(pid: u32) -> Ancestry {
    known(|| tree::stat(pid))
}

#[cfg(target_os = "linux")]
fn known(from: impl Fn() -> Option<tree::Stat>) -> Ancestry {
    let known = (0..TRIES).map(|_| climb(from())).find(|found| *found != Ancestry::Unknown);
    known.unwrap_or(Ancestry::Unknown)
}

/// Elsewhere no init keeps together what descends from a launch.
#[cfg(not(target_os = "linux"))]
pub fn ancestry_of(_pid: u32) -> Ancestry {
    Ancestry::Unknown
}

/// Elsewhere no init keeps together what descends from a launch.
#[cfg(not(target_os = "linux"))]
pub fn ancestry() -> Ancestry {
    Ancestry::Unknown
}

#[cfg(target_os = "linux")]
fn climb(from: Option<tree::Stat>) -> Ancestry {
    let Some(mut at) = from else { return Ancestry::Unknown };
    loop {
        if at.name == INIT || at.name == LAUNCHER {
            return Ancestry::Launched;
        }
        if at.parent == 0 {
            return Ancestry::Free;
        }
        match tree::stat(at.parent) {
            Some(parent) => at = parent,
            None => return Ancestry::Unknown,
        }
    }
}

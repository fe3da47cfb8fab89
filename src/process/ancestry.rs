//! Finds out whether this process descends from a launch, for example because an agent has started this editor.
//!
//! All descendants of a launch stay below its init, so an init among the ancestors proves it. So does the limit that they
//! inherit, also if the init was killed or the ancestors cannot be read. Without both, callers use the mark in the
//! environment.

#[cfg(target_os = "linux")]
use super::launch_protocol::{INIT, LAUNCHER};
#[cfg(target_os = "linux")]
use super::{limit, tree};

/// Whether a process descends from a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ancestry {
    Launched,
    Free,
    /// The ancestors cannot be read.
    Unknown,
}

/// How often to try again when an ancestor exits meanwhile, which changes the parents.
#[cfg(target_os = "linux")]
const TRIES: u32 = 5;

/// Whether this process descends from a launch.
#[cfg(target_os = "linux")]
pub fn ancestry() -> Ancestry {
    if limit::is_marked() {
        return Ancestry::Launched;
    }
    // Read /proc/self, because the ids in /proc may be those of another namespace.
    known(tree::own_stat)
}

/// Whether another process descends from a launch; unknown if it has exited or is in another namespace.
#[cfg(target_os = "linux")]
pub fn ancestry_of(pid: u32) -> Ancestry {
    if limit::marks(pid) {
        return Ancestry::Launched;
    }
    known(|| tree::stat(pid))
}

#[cfg(target_os = "linux")]
fn known(from: impl Fn() -> Option<tree::Stat>) -> Ancestry {
    let known = (0..TRIES).map(|_| climb(from())).find(|found| *found != Ancestry::Unknown);
    known.unwrap_or(Ancestry::Unknown)
}

/// Other systems have no inits.
#[cfg(not(target_os = "linux"))]
pub fn ancestry_of(_pid: u32) -> Ancestry {
    Ancestry::Unknown
}

/// Other systems have no inits.
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

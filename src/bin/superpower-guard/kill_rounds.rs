//! Ending one's children, whoever they are. A child's id stays its own until it is reaped, and nobody else reaps it: so
//! no signal from here can reach a process of somebody else's.

use crate::{system, tree};
use std::collections::BTreeSet;
use std::time::Duration;

/// Children that are being killed, round by round: what was below a child that is dead is a child in the next one.
#[derive(Default)]
pub struct Rounds(u32);

/// So many rounds follow each other at once, so that what forks again and again is overtaken.
const AT_ONCE: u32 = 300;
/// So many rounds come a millisecond after each other.
const SOON: u32 = 1000;
/// One in so many rounds looks at all that is below, and not at children only.
const DEEP: u32 = 8;

impl Rounds {
    /// Kills the children, but for those that are spared.
    pub fn kill(&mut self, spared: &dyn Fn(u32) -> bool) {
        let ours: BTreeSet<u32> = children().into_iter().filter(|&child| !spared(child)).collect();
        for &child in &ours {
            system::kill(child, libc::SIGKILL);
        }
        if self.0 % DEEP == DEEP - 1 && !ours.is_empty() {
            let below = tree::below(
                |pid, stat| ours.contains(&pid) || ours.contains(&stat.parent),
                std::process::id(),
            );
            tree::signal(&below, libc::SIGKILL);
        }
        self.0 = self.0.saturating_add(1);
    }

    /// How long to wait for a child's end before the next round.
    pub fn pause(&self) -> Duration {
        match self.0 {
            ..AT_ONCE => Duration::ZERO,
            AT_ONCE..SOON => Duration::from_millis(1),
            // Not even KILL ends it now: it waits for a dead disk, or is somebody else's.
            SOON.. => Duration::from_millis(100),
        }
    }
}

/// This process's children, those that are dead and not reaped included.
pub fn children() -> Vec<u32> {
    if let Ok(list) = std::fs::read_to_string("/proc/thread-self/children") {
        return list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect();
    }
    let ours = std::process::id();
    let is_child = |&pid: &u32| tree::stat(pid).is_some_and(|stat| stat.parent == ours);
    tree::pids().into_iter().filter(is_child).collect()
}

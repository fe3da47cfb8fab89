//! Kills all children of this process. A child's id stays reserved until this process reaps it, so no signal can reach an
//! unrelated process.

use crate::{system, tree};
use std::collections::BTreeSet;
use std::time::Duration;

/// Kills children in rounds: the children of a killed process are adopted, and killed in the next round.
#[derive(Default)]
pub struct Rounds(u32);

/// The number of rounds without a delay, to overtake processes that fork repeatedly.
const WITHOUT_DELAY: u32 = 300;
/// The number of rounds after which the delay grows from 1 ms to 100 ms.
const SHORT_DELAY: u32 = 1000;
/// One round in this many kills all descendants, not only children.
const DEEP: u32 = 8;

impl Rounds {
    /// Kills the children, except those for which `spared` is true.
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
            ..WITHOUT_DELAY => Duration::ZERO,
            WITHOUT_DELAY..SHORT_DELAY => Duration::from_millis(1),
            // SIGKILL does not end it: it is blocked in the kernel, or belongs to another user.
            SHORT_DELAY.. => Duration::from_millis(100),
        }
    }
}

/// The children of this process, including zombies.
pub fn children() -> Vec<u32> {
    if let Ok(list) = std::fs::read_to_string("/proc/thread-self/children") {
        return list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect();
    }
    let ours = std::process::id();
    let is_child = |&pid: &u32| tree::stat(pid).is_some_and(|stat| stat.parent == ours);
    tree::pids().into_iter().filter(is_child).collect()
}

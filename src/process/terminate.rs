//! Ending processes that nobody leads any more. The guard has this file too: it uses nothing but std and libc.

use super::tree::{self, Kin};
use std::time::{Duration, Instant};

/// Ends what outlived its leader: TERM, and KILL to what is still there after `grace`. `more` finds those that came
/// into being meanwhile.
pub fn terminate(kin: &mut Kin, grace: Duration, more: impl Fn() -> Kin) {
    if kin.is_empty() {
        return;
    }
    tree::signal(kin, libc::SIGTERM);
    tree::signal(kin, libc::SIGCONT);
    gone(kin, grace);
    // A process that forks faster than it is found: a few rounds, then it is given up.
    for _ in 0..8 {
        kin.extend(more());
        kin.retain(|&pid, &mut start_time| tree::lives(pid, start_time));
        if kin.is_empty() {
            return;
        }
        tree::signal(kin, libc::SIGKILL);
        gone(kin, Duration::from_millis(200));
    }
}

/// Waits until none of them lives, or long enough.
fn gone(kin: &Kin, within: Duration) {
    let until = Instant::now() + within;
    while kin.iter().any(|(&pid, &start_time)| tree::lives(pid, start_time)) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
}

//! Ends processes whose leader has ended. The guard's program includes this file, so it uses only std and libc.

use super::tree::{self, ProcessSet};
use std::time::{Duration, Instant};

/// Ends processes: SIGTERM, then SIGKILL to those that are left after `grace`. `more` finds processes that were started
/// meanwhile.
pub fn terminate(processes: &mut ProcessSet, grace: Duration, more: impl Fn() -> ProcessSet) {
    if processes.is_empty() {
        return;
    }
    tree::signal(processes, libc::SIGTERM);
    tree::signal(processes, libc::SIGCONT);
    wait_until_ended(processes, grace);
    // A process may fork faster than it is found, so the number of rounds is limited.
    for _ in 0..8 {
        processes.extend(more());
        processes.retain(|&pid, &mut start_time| tree::lives(pid, start_time));
        if processes.is_empty() {
            return;
        }
        tree::signal(processes, libc::SIGKILL);
        wait_until_ended(processes, Duration::from_millis(200));
    }
}

/// Waits until all have ended, for at most `within`.
fn wait_until_ended(processes: &ProcessSet, within: Duration) {
    let until = Instant::now() + within;
    while processes.iter().any(|(&pid, &start_time)| tree::lives(pid, start_time)) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
}

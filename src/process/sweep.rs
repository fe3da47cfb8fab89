//! Ending what an earlier drive left behind, before its run goes on.

use super::{Mark, tree};
use crate::outcome::ProcessRecord;
use std::time::{Duration, Instant};
use tree::Kin;

/// Ends what is left of an earlier drive: the recorded processes that are still the same ones, with their groups
/// and descendants, and whatever carries the run's mark. Says what it ended, a line each. Never the caller.
pub fn sweep(records: &[ProcessRecord], run_id: &str) -> Vec<String> {
    let mut kin = Kin::new();
    for record in records.iter().filter(|record| super::alive(record)) {
        kin.insert(record.pid, record.start_time);
        kin.extend(tree::descendants(record.pid));
    }
    kin.extend(tree::marked(run_id, None));
    for pid in tree::ourselves() {
        kin.remove(&pid);
    }
    let name = |pid: u32| tree::stat(pid).map_or_else(String::new, |stat| format!(" ({})", stat.name));
    let said = kin
        .keys()
        .map(|&pid| format!("ended process {pid}{}, left from an earlier drive", name(pid)))
        .collect();
    end(&mut kin, super::TERM, || tree::marked(run_id, None));
    said
}

/// Ends what outlived its leader: TERM, and KILL to what is still there after `grace`. `more` finds those that came
/// into being meanwhile.
pub(super) fn end(kin: &mut Kin, grace: Duration, more: impl Fn() -> Kin) {
    if kin.is_empty() {
        return;
    }
    tree::signal(kin, libc::SIGTERM);
    tree::signal(kin, libc::SIGCONT);
    if gone(kin, grace) {
        kin.extend(more());
    }
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

/// What is left of one launch, beside those that are known already.
pub(super) fn leftovers(mark: &Mark, known: &Kin) -> Kin {
    let mut kin = tree::marked(&mark.run_id, Some(mark.launch));
    kin.extend(known.iter().filter(|&(&pid, &start_time)| tree::lives(pid, start_time)));
    kin
}

/// Waits until none of them lives.
fn gone(kin: &Kin, within: Duration) -> bool {
    let until = Instant::now() + within;
    loop {
        if !kin.iter().any(|(&pid, &start_time)| tree::lives(pid, start_time)) {
            return true;
        }
        if Instant::now() >= until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

//! Ends the processes that an earlier drive of a run has left behind, before the run continues.

use super::terminate::terminate;
use super::{Mark, tree};
use crate::outcome::ProcessRecord;
use tree::ProcessSet;

/// Ends the recorded processes that are still the same ones, with their groups and descendants, and every process with
/// the run's mark, but never this process or its ancestors. Returns a line about each.
pub fn sweep(records: &[ProcessRecord], run_id: &str) -> Vec<String> {
    let mut processes = ProcessSet::new();
    for record in records.iter().filter(|record| super::alive(record)) {
        processes.insert(record.pid, record.start_time);
        processes.extend(tree::descendants(record.pid));
    }
    processes.extend(tree::marked(run_id, None));
    for pid in tree::ourselves() {
        processes.remove(&pid);
    }
    let name = |pid: u32| tree::stat(pid).map_or_else(String::new, |stat| format!(" ({})", stat.name));
    let lines = processes
        .keys()
        .map(|&pid| format!("ended process {pid}{}, left from an earlier drive", name(pid)))
        .collect();
    terminate(&mut processes, super::TERM, || tree::marked(run_id, None));
    lines
}

/// The processes of a launch that are still running: those in `known`, and those with the launch's mark.
pub(super) fn leftovers(mark: &Mark, known: &ProcessSet) -> ProcessSet {
    let mut processes = tree::marked(&mark.run_id, Some(mark.launch));
    processes.extend(known.iter().filter(|&(&pid, &start_time)| tree::lives(pid, start_time)));
    processes
}

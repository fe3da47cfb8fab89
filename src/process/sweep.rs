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
    processes.extend(marked(run_id));
    for pid in tree::ourselves() {
        processes.remove(&pid);
    }
    let names: Vec<(u32, u64, String)> =
        processes.iter().map(|(&pid, &start_time)| (pid, start_time, named(pid))).collect();
    terminate(&mut processes, super::TERM, || marked(run_id));
    let said = |(pid, start_time, name)| {
        if tree::lives(pid, start_time) {
            format!("cannot end {name}, left from an earlier drive: it is still running after SIGKILL")
        } else {
            format!("ended {name}, left from an earlier drive")
        }
    };
    names.into_iter().map(said).collect()
}

/// The processes with a mark of the run: in their environment, or as their limit.
fn marked(run_id: &str) -> ProcessSet {
    let mut processes = tree::marked(run_id, None);
    processes.extend(limited(run_id, None));
    processes
}

/// Describes a process, for example `process 17 (sh)`.
pub(super) fn named(pid: u32) -> String {
    let name = tree::stat(pid).map_or_else(String::new, |stat| format!(" ({})", stat.name));
    format!("process {pid}{name}")
}

#[cfg(target_os = "linux")]
fn limited(run_id: &str, launch: Option<u32>) -> ProcessSet {
    super::limit::marked(run_id, launch)
}

#[cfg(not(target_os = "linux"))]
fn limited(_: &str, _: Option<u32>) -> ProcessSet {
    ProcessSet::new()
}

/// The processes of a launch that are still running: those in `known`, and those with the launch's mark. The limit is
/// read only if the init was `lost`, because nothing else is left without its mark.
pub(super) fn leftovers(mark: &Mark, known: &ProcessSet, lost: bool) -> ProcessSet {
    let mut processes = tree::marked(&mark.run_id, Some(mark.launch));
    if lost {
        processes.extend(limited(&mark.run_id, Some(mark.launch)));
    }
    processes.extend(known.iter().filter(|&(&pid, &start_time)| tree::lives(pid, start_time)));
    processes
}

//! Ending what an earlier drive left behind, before its run goes on.

use super::terminate::terminate;
use super::{Mark, tree};
use crate::outcome::ProcessRecord;
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
    terminate(&mut kin, super::TERM, || tree::marked(run_id, None));
    said
}

/// What is left of one launch, beside those that are known already.
pub(super) fn leftovers(mark: &Mark, known: &Kin) -> Kin {
    let mut kin = tree::marked(&mark.run_id, Some(mark.launch));
    kin.extend(known.iter().filter(|&(&pid, &start_time)| tree::lives(pid, start_time)));
    kin
}

//! Deletes old runs.

use super::beneath::Door;
use super::keyring::Keyring;
use super::rundir::{ids, listed, runs};
use super::summary;
use std::path::Path;

/// Deletes the oldest finished runs beyond `keep`. Never deletes unfinished runs, `current`, or runs that are not
/// ours, whatever their files claim.
pub fn prune(root: &Path, keys: &Keyring, keep: usize, current: &str) {
    let door = Door::ours(root);
    let ours = |id: String| match summary::read(root, &id, keys) {
        // The current run has no summary yet, but counts.
        None => (id == current).then_some((id, false)),
        kept => kept.map(|kept| (id, kept.summary.over())),
    };
    let ours = ids(root).into_iter().filter_map(ours).skip(keep);
    for (id, _) in ours.filter(|(id, over)| *over && id != current) {
        let _ = door.remove_tree(&runs(root).join(id));
    }
    // If the runs cannot be listed, we do not know which ones are gone.
    if let Ok(ids) = listed(root) {
        keys.forget_others(root, &ids);
    }
}

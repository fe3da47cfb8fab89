//! Writes the checkpoints that earlier processes could not write, from their runs' journals.

use super::Host;
use super::checkpoint_writer::{self, mark, notifier, opening, past, reporter};
use super::unwritten_checkpoints::{Left, Unwritten};
use crate::checkpoint::Checkpoints;
use crate::project::review::CancelToken;
use crate::runs::open::open;
use crate::store::beneath::Door;
use crate::store::rundir::{self, RunDir};
use std::path::Path;
use std::sync::{Arc, PoisonError};

/// Takes over the unwritten checkpoints of a project, except those of the run `but`, whose drive takes care of them.
pub fn take_up(host: &Arc<Host>, root: &Path, but: &str) {
    for run_id in rundir::ids(root) {
        let Ok(dir) = RunDir::of(root, &run_id) else { continue };
        if run_id == but
            || !is_marked(root, &dir)
            || host.unwritten.left().iter().any(|it| it.is_of(root, &run_id))
        {
            continue;
        }
        // An unreadable run has nothing to write, and a foreign run's files are not trusted.
        let opened = open(root, &run_id, &host.keys).ok().filter(|opened| opened.contents.ours);
        let Some(opened) = opened else { continue };
        let (place, _) = checkpoint_writer::place(root, &dir, &opened.run);
        let report = reporter(&place, notifier(host, root));
        let handle = Checkpoints::open_after(
            opening(host, place, &dir, checkpoint_writer::find_nothing()),
            None,
            report,
        );
        handle.restored(past(root, &opened.run, &checkpoint_writer::keys(&opened.run.plan)));
        host.unwritten.keep(Left::new(root, &opened.run, handle, Arc::default(), CancelToken::default()));
    }
}

fn is_marked(root: &Path, dir: &RunDir) -> bool {
    Door::ours(root).is_file(&mark(dir))
}

/// Does this once per project, before a run is driven.
pub fn look(root: &Path, unwritten: &Unwritten, host: impl FnOnce() -> Arc<Host>) {
    let mut looked = unwritten.looked.lock().unwrap_or_else(PoisonError::into_inner);
    if !looked.insert(root.to_owned()) {
        return;
    }
    drop(looked);
    let marked = |run_id: &String| RunDir::of(root, run_id).is_ok_and(|dir| is_marked(root, &dir));
    if rundir::ids(root).iter().any(marked) {
        take_up(&host(), root, "");
    }
}

//! Checkpoints that could not be written while their run was driven. They wait here after the drive, and are tried again
//! as long as this process lives; a process that comes later takes them up from the run's journal.

use super::Host;
use super::checkpoint_writer::{self, mark, opening, past, reason, reporter, sayer};
use crate::checkpoint::Checkpoints;
use crate::run::state::Run;
use crate::runs::open::open;
use crate::store::beneath::Door;
use crate::store::rundir::{self, RunDir};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long the last tries may take, all together, when a process ends.
const LAST: Duration = Duration::from_millis(500);

/// What a drive has left.
pub struct Left {
    root: PathBuf,
    run_id: String,
    superpower: String,
    book: Checkpoints,
    shown: Arc<AtomicBool>,
}

impl Left {
    /// The book of a run that nobody drives any more.
    pub fn new(root: &Path, run: &Run, book: Checkpoints, shown: Arc<AtomicBool>) -> Self {
        book.leave();
        let (run_id, superpower) = (run.run_id.clone(), run.plan.name().to_owned());
        Self { root: root.to_owned(), run_id, superpower, book, shown }
    }

    fn is_of(&self, root: &Path, run_id: &str) -> bool {
        self.root == root && self.run_id == run_id
    }
}

/// All that is left in this process.
#[derive(Default)]
pub struct Unwritten {
    left: Mutex<Vec<Left>>,
    /// Projects whose earlier runs were looked at.
    looked: Mutex<HashSet<PathBuf>>,
}

impl Unwritten {
    /// Takes in what a drive has left.
    pub fn keep(&self, left: Left) {
        self.left().push(left);
    }

    /// Gives a run's book back, to go on with.
    pub fn take(&self, root: &Path, run_id: &str) -> Option<Checkpoints> {
        let mut all = self.left();
        let at = all.iter().position(|left| left.is_of(root, run_id))?;
        Some(all.swap_remove(at).book)
    }

    /// Another run of the project is shown from now on.
    pub fn hide(&self, root: &Path) {
        self.left()
            .iter()
            .filter(|left| left.root == root)
            .for_each(|left| left.shown.store(false, Ordering::Relaxed));
    }

    /// Why a run's newest checkpoint is not written yet, where it is not.
    pub fn waiting(&self, root: &Path, run_id: &str) -> Option<String> {
        self.left().iter().find(|left| left.is_of(root, run_id)).and_then(|left| reason(&left.book.state()))
    }

    /// The process ends: everything is tried once more. Gives a line for each document that stays unwritten.
    pub fn close(&self) -> Vec<String> {
        let left = std::mem::take(&mut *self.left());
        let tries: Vec<_> = left
            .iter()
            .map(|left| {
                let (done, is_done) = channel();
                left.book.last_try(done);
                is_done
            })
            .collect();
        let until = Instant::now() + LAST;
        let unwritten = left.iter().zip(tries).filter_map(|(left, is_done)| {
            let rest = until.saturating_duration_since(Instant::now());
            let written = is_done.recv_timeout(rest).unwrap_or_else(|_| left.book.is_over());
            (!written).then(|| {
                let why = reason(&left.book.state()).unwrap_or_else(|| "there was no time for it".into());
                let document = left.book.place().named();
                format!("{}: \"{document}\" stays unwritten until the next start: {why}", left.superpower)
            })
        });
        unwritten.collect()
    }

    /// Those that are not written, and are not over.
    fn left(&self) -> MutexGuard<'_, Vec<Left>> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.retain(|left| !left.book.is_over());
        left
    }
}

/// Takes up what earlier processes have left in a project, but for a run that is about to be driven, whose drive does.
pub fn take_up(host: &Arc<Host>, root: &Path, but: &str) {
    for run_id in rundir::ids(root) {
        let Ok(dir) = RunDir::of(root, &run_id) else { continue };
        if run_id == but
            || !is_marked(root, &dir)
            || host.unwritten.left().iter().any(|it| it.is_of(root, &run_id))
        {
            continue;
        }
        // A run that cannot be read has nothing to write, and one that is not ours nothing to say.
        let opened = open(root, &run_id, &host.keys).ok().filter(|opened| opened.contents.ours);
        let Some(opened) = opened else { continue };
        let (place, _) = checkpoint_writer::place(root, &dir, &opened.run);
        let report = reporter(&place, sayer(host, root));
        let book =
            Checkpoints::go_on(opening(host, place, &dir, checkpoint_writer::find_nothing()), None, report);
        book.restored(past(&opened.run, &checkpoint_writer::keys(&opened.run.plan)));
        host.unwritten.keep(Left::new(root, &opened.run, book, Arc::default()));
    }
}

fn is_marked(root: &Path, dir: &RunDir) -> bool {
    Door::ours(root).is_file(&mark(dir))
}

/// The same where nobody drives yet, once for each project.
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

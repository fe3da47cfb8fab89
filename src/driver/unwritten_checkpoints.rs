//! Checkpoints that could not be written while their run was driven. They wait here after the drive, and are tried again
//! as long as this process lives; a process that comes later takes them up from the run's journal.

use crate::checkpoint::{Checkpoints, State};
use crate::project::review::CancelToken;
use crate::run::state::Run;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long the last tries may take, all together, when a process ends.
const LAST: Duration = Duration::from_millis(500);
/// And how long each may take once git is not waited for.
const WITHOUT_LOOKS: Duration = Duration::from_millis(100);

/// What a drive has left.
pub struct Left {
    root: PathBuf,
    run_id: String,
    superpower: String,
    book: Checkpoints,
    shown: Arc<AtomicBool>,
    /// Set where its look at the files is not waited for.
    cancel: CancelToken,
}

impl Left {
    /// The book of a run that nobody drives any more.
    pub fn new(
        root: &Path,
        run: &Run,
        book: Checkpoints,
        shown: Arc<AtomicBool>,
        cancel: CancelToken,
    ) -> Self {
        book.leave();
        let (run_id, superpower) = (run.run_id.clone(), run.plan.name().to_owned());
        Self { root: root.to_owned(), run_id, superpower, book, shown, cancel }
    }

    pub(super) fn is_of(&self, root: &Path, run_id: &str) -> bool {
        self.root == root && self.run_id == run_id
    }
}

/// All that is left in this process.
#[derive(Default)]
pub struct Unwritten {
    left: Mutex<Vec<Left>>,
    /// Projects whose earlier runs were looked at.
    pub(super) looked: Mutex<HashSet<PathBuf>>,
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
            let written = is_done.recv_timeout(rest).or_else(|error| {
                // Git has had its time.
                left.cancel.set(true);
                if error == RecvTimeoutError::Timeout {
                    is_done.recv_timeout(WITHOUT_LOOKS)
                } else {
                    Err(error)
                }
            });
            // A thread that ends has nothing left to write, and answers nobody.
            let written = written.unwrap_or_else(|error| {
                let is_written = left.book.state() == State::Written;
                is_written && (error == RecvTimeoutError::Disconnected || left.book.is_over())
            });
            (!written).then(|| {
                let why = reason(&left.book.state()).unwrap_or_else(|| "there was no time for it".into());
                let document = left.book.place().named();
                format!("{}: \"{document}\" stays unwritten until the next start: {why}", left.superpower)
            })
        });
        unwritten.collect()
    }

    /// Those that are not written, and are not over.
    pub(super) fn left(&self) -> MutexGuard<'_, Vec<Left>> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.retain(|left| !left.book.is_over());
        left
    }
}

/// Why something waits, where it does.
pub fn reason(state: &State) -> Option<String> {
    match state {
        State::Waiting(why) => Some(why.clone()),
        State::Written => None,
    }
}

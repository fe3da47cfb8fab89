//! Checkpoints that could not be written while their run was driven. They are retried until this process ends; a
//! later process takes them from the run's journal.

use crate::checkpoint::{Checkpoints, State};
use crate::project::review::CancelToken;
use crate::run::state::Run;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Total time for the last attempts when the process ends.
const LAST: Duration = Duration::from_millis(500);
/// Time for each attempt once git is no longer waited for.
const WITHOUT_GIT: Duration = Duration::from_millis(100);

/// The checkpoints that a drive has left.
pub struct Left {
    root: PathBuf,
    run_id: String,
    superpower: String,
    handle: Checkpoints,
    shown: Arc<AtomicBool>,
    /// Cancels the lookup of its files.
    cancel: CancelToken,
}

impl Left {
    /// The unwritten checkpoints of a run that is no longer driven.
    pub fn new(
        root: &Path,
        run: &Run,
        handle: Checkpoints,
        shown: Arc<AtomicBool>,
        cancel: CancelToken,
    ) -> Self {
        handle.leave();
        let (run_id, superpower) = (run.run_id.clone(), run.plan.name().to_owned());
        Self { root: root.to_owned(), run_id, superpower, handle, shown, cancel }
    }

    pub(super) fn is_of(&self, root: &Path, run_id: &str) -> bool {
        self.root == root && self.run_id == run_id
    }
}

/// All unwritten checkpoints of this process.
#[derive(Default)]
pub struct Unwritten {
    left: Mutex<Vec<Left>>,
    /// Projects whose earlier runs were checked.
    pub(super) looked: Mutex<HashSet<PathBuf>>,
}

impl Unwritten {
    /// Adds the checkpoints that a drive has left.
    pub fn keep(&self, left: Left) {
        self.left().push(left);
    }

    /// Returns a run's checkpoints to a new drive.
    pub fn take(&self, root: &Path, run_id: &str) -> Option<Checkpoints> {
        let mut all = self.left();
        let at = all.iter().position(|left| left.is_of(root, run_id))?;
        Some(all.swap_remove(at).handle)
    }

    /// The editor now shows another run of the project.
    pub fn hide(&self, root: &Path) {
        self.left()
            .iter()
            .filter(|left| left.root == root)
            .for_each(|left| left.shown.store(false, Ordering::Relaxed));
    }

    /// Why a run's latest checkpoint is not written yet.
    pub fn waiting(&self, root: &Path, run_id: &str) -> Option<String> {
        self.left().iter().find(|left| left.is_of(root, run_id)).and_then(|left| reason(&left.handle.state()))
    }

    /// The process ends: tries everything once more, and returns a message for each document that stays unwritten.
    pub fn close(&self) -> Vec<String> {
        let left = std::mem::take(&mut *self.left());
        let tries: Vec<_> = left
            .iter()
            .map(|left| {
                let (done, is_done) = channel();
                left.handle.last_try(done);
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
                    is_done.recv_timeout(WITHOUT_GIT)
                } else {
                    Err(error)
                }
            });
            // A thread that has ended has nothing left to write, and does not answer.
            let written = written.unwrap_or_else(|error| {
                let is_written = left.handle.state() == State::Written;
                is_written && (error == RecvTimeoutError::Disconnected || left.handle.is_over())
            });
            (!written).then(|| {
                let why = reason(&left.handle.state()).unwrap_or_else(|| "there was not enough time".into());
                let document = left.handle.place().named();
                format!("{}: \"{document}\" will be written at the next start: {why}", left.superpower)
            })
        });
        unwritten.collect()
    }

    /// The checkpoints that are still unwritten.
    pub(super) fn left(&self) -> MutexGuard<'_, Vec<Left>> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.retain(|left| !left.handle.is_over());
        left
    }
}

/// Why writing waits, if it does.
pub fn reason(state: &State) -> Option<String> {
    match state {
        State::Waiting(why) => Some(why.clone()),
        State::Written => None,
    }
}

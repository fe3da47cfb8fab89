//! Takes snapshots of a project's files for one drive, one at a time. Requests for the same moment share a snapshot: the
//! checkpoint of an attempt that has ended, and the gate that opens after it.
//!
//! A snapshot takes several calls of git, which may take long in a large project, so only threads that exist for this
//! call these functions.

use super::Host;
use super::gate_review::{Comparer, Comparison, LONGEST, NO_BASELINE};
use crate::project::review::{self, CancelToken, TreeId};
use crate::sync::locked;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, TryLockError};
use std::time::{Duration, Instant};

/// How often to check whether another thread's snapshot is finished.
const POLL: Duration = Duration::from_millis(5);

/// Takes the snapshots of one drive.
pub struct ReviewWorker {
    host: Arc<Host>,
    root: PathBuf,
    cancel: CancelToken,
    /// Locked while a snapshot is taken.
    newest: Mutex<Option<Snapshot>>,
    first: OnceLock<TreeId>,
    /// When the newest attempt ended. Its checkpoint needs the files as of then, or a little later.
    ended: Mutex<Instant>,
}

struct Snapshot {
    started: Instant,
    tree: TreeId,
}

impl ReviewWorker {
    /// `cancel` cancels every snapshot of this drive.
    pub fn new(host: Arc<Host>, root: &Path, cancel: CancelToken) -> Self {
        let ended = Mutex::new(Instant::now());
        Self { host, root: root.to_owned(), cancel, newest: Mutex::default(), first: OnceLock::new(), ended }
    }

    pub fn host(&self) -> &Arc<Host> {
        &self.host
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The name of a file, with secrets masked.
    pub fn mask(&self, file: &str) -> String {
        self.host.secrets.mask(file).into_owned()
    }

    /// Compares snapshots and keeps the reviews of gates.
    pub fn comparer(&self) -> Comparer<'_> {
        self.host.comparer(&self.cancel, &self.root)
    }

    /// When the newest attempt ended.
    pub fn ended(&self) -> Instant {
        *locked(&self.ended)
    }

    /// The drive's first snapshot, if there is one.
    pub fn first(&self) -> Option<&TreeId> {
        self.first.get()
    }

    /// Records that an attempt has ended now, and returns the time.
    pub fn attempt_ended(&self) -> Instant {
        let now = Instant::now();
        *locked(&self.ended) = now;
        now
    }

    /// The files as of some moment after `since`. The newest snapshot is used if it was started later.
    pub fn tree(&self, since: Instant) -> Result<TreeId, String> {
        self.tree_cancellable(&self.cancel, since)
    }

    /// Does the same, and stops when `cancel` is set.
    pub fn tree_cancellable(&self, cancel: &CancelToken, since: Instant) -> Result<TreeId, String> {
        let mut newest = self.newest(cancel)?;
        if let Some(snapshot) = newest.as_ref().filter(|snapshot| snapshot.started >= since) {
            return Ok(snapshot.tree.clone());
        }
        let started = Instant::now();
        let tree = self.host.comparer(cancel, &self.root).tree()?;
        let _ = self.first.set(tree.clone());
        *newest = Some(Snapshot { started, tree: tree.clone() });
        Ok(tree)
    }

    /// Takes a snapshot for a gate and compares it with `before`, within a time limit, so that a gate always opens.
    pub fn compare(&self, before: Option<&TreeId>, since: Instant) -> Result<Comparison, String> {
        let cancel = self.cancel.within(LONGEST);
        // If there is nothing to compare with, the reason why the files cannot be read says more than that.
        let tree = self.tree_cancellable(&cancel, since)?;
        let before = before.ok_or(NO_BASELINE)?;
        self.host.comparer(&cancel, &self.root).compare_tree(before, tree)
    }

    /// Locks the newest snapshot, once no other thread takes one.
    fn newest(&self, cancel: &CancelToken) -> Result<MutexGuard<'_, Option<Snapshot>>, String> {
        loop {
            match self.newest.try_lock() {
                Ok(newest) => return Ok(newest),
                Err(TryLockError::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) if cancel.is_over() => {
                    return Err(review::ReviewError::Busy.to_string());
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(POLL),
            }
        }
    }
}

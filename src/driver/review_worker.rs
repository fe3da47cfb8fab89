//! Takes looks at a project's files for one drive: one at a time, and one look for all who want to know what the files
//! are at the same moment (the checkpoint of an attempt that has ended, the gate that opens after it).
//!
//! A look is some calls of git, which may take long in a large project. Nobody here waits for them but threads that are
//! there for that.

use super::Host;
use super::gate_review::{LONGEST, Looked, Looks, NO_BASELINE};
use crate::project::review::{self, CancelToken, TreeId};
use crate::sync::locked;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, TryLockError};
use std::time::{Duration, Instant};

/// How soon it is seen that another look is over.
const SOON: Duration = Duration::from_millis(5);

/// The looks of one drive.
pub struct ReviewWorker {
    host: Arc<Host>,
    root: PathBuf,
    cancel: CancelToken,
    newest: Mutex<Option<Look>>,
    /// The first tree of all.
    first: OnceLock<TreeId>,
    /// The newest end of an attempt: the checkpoint wants to know the files as they were then, or a little later.
    ended: Mutex<Instant>,
}

struct Look {
    begun: Instant,
    tree: TreeId,
}

impl ReviewWorker {
    /// For a drive that `cancel` may end.
    pub fn new(host: Arc<Host>, root: &Path, cancel: CancelToken) -> Self {
        let ended = Mutex::new(Instant::now());
        Self { host, root: root.to_owned(), cancel, newest: Mutex::default(), first: OnceLock::new(), ended }
    }

    /// For whom it looks.
    pub fn host(&self) -> &Arc<Host> {
        &self.host
    }

    /// The project.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The name of a file, without what is secret in it.
    pub fn mask(&self, file: &str) -> String {
        self.host.secrets.mask(file).into_owned()
    }

    /// What it takes to look.
    pub fn looks(&self) -> Looks<'_> {
        self.host.looks(&self.cancel, &self.root)
    }

    /// When the newest attempt has ended.
    pub fn ended(&self) -> Instant {
        *locked(&self.ended)
    }

    /// The first tree of all, where there was a look.
    pub fn first(&self) -> Option<&TreeId> {
        self.first.get()
    }

    /// An attempt has ended; gives when.
    pub fn attempt_ended(&self) -> Instant {
        let now = Instant::now();
        *locked(&self.ended) = now;
        now
    }

    /// The files as they were at some moment after `since`: as the newest look found them, where that has begun later.
    pub fn tree(&self, since: Instant) -> Result<TreeId, String> {
        self.tree_unless(&self.cancel, since)
    }

    /// The same, given up once `cancel` is set.
    pub fn tree_unless(&self, cancel: &CancelToken, since: Instant) -> Result<TreeId, String> {
        let mut newest = self.newest(cancel)?;
        if let Some(look) = newest.as_ref().filter(|look| look.begun >= since) {
            return Ok(look.tree.clone());
        }
        let begun = Instant::now();
        let tree = self.host.looks(cancel, &self.root).tree()?;
        let _ = self.first.set(tree.clone());
        *newest = Some(Look { begun, tree: tree.clone() });
        Ok(tree)
    }

    /// The same for a gate, with what differs from the last approval. A gate does not wait for ever.
    pub fn compare(&self, before: Option<&TreeId>, since: Instant) -> Result<Looked, String> {
        let before = before.ok_or(NO_BASELINE)?;
        let cancel = self.cancel.within(LONGEST);
        let tree = self.tree_unless(&cancel, since)?;
        self.host.looks(&cancel, &self.root).compare_look(before, tree)
    }

    /// The newest look, once no other thread takes one.
    fn newest(&self, cancel: &CancelToken) -> Result<MutexGuard<'_, Option<Look>>, String> {
        loop {
            match self.newest.try_lock() {
                Ok(newest) => return Ok(newest),
                Err(TryLockError::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) if cancel.is_over() => {
                    return Err(review::ReviewError::Busy.to_string());
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(SOON),
            }
        }
    }
}

//! Finds the files of a project that have changed since the last approval, for the review at a gate.
//!
//! A snapshot is a git tree. It is made with a git directory of our own in our state directory. Its index starts as a copy
//! of the user's, so that unchanged files are not read again, and it uses the user's objects as alternates, so that a
//! large repository costs no disk space. The user's repository, index and files are never written to. Files that git
//! ignores are left out. Nested repositories and submodules are scanned like directories. A project needs no git.

mod cancel_token;
mod changes;
mod error;
mod git;
mod git_dir;
mod own_files;
mod review_dir;
mod rule_names;
mod rules;
mod scan_scope;
mod snapshot;
mod waits;

use super::branch::Repository;
use crate::store::beneath::Door;
use crate::store::state::State;
pub use cancel_token::CancelToken;
pub use error::ReviewError;
use git::{Git, Tool};
use own_files::OwnFiles;
pub use review_dir::{EARLIER, ReviewDir, clear};
use scan_scope::ScanScope;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long to wait for another editor's snapshot. That editor may be stopped (SIGSTOP).
const BUSY: Duration = Duration::from_secs(10);
/// Pruning starts only with more objects than this.
const MANY: u64 = 4096;
/// Maximum size of the objects of one project, in bytes, in addition to those of its current files.
pub const MOST: u64 = 1 << 30;
/// Maximum size of a text for a diff, in bytes.
const TEXT: usize = 4 * 1024 * 1024;

/// A snapshot of the project's files, by the id of its git tree, which is also a digest of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TreeId(String);

impl TreeId {
    /// Parses the id of a tree; `None` if it is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let known = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        known.then(|| Self(text.to_owned()))
    }

    /// In hexadecimal.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What happened to a file. A rename is a deletion and a creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    #[serde(rename = "+")]
    Created,
    /// Its contents, kind or mode differ.
    #[serde(rename = "~")]
    Changed,
    #[serde(rename = "-")]
    Deleted,
}

impl Status {
    /// The sign in lists.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Created => "+",
            Self::Changed => "~",
            Self::Deleted => "-",
        }
    }
}

/// A changed file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Relative to the project's root.
    pub path: String,
    pub status: Status,
    /// Number of lines added; `None` for a file that is not text.
    pub added: Option<u64>,
    /// Number of lines removed; `None` for a file that is not text.
    pub removed: Option<u64>,
}

/// Takes and compares snapshots of one project.
#[derive(Debug)]
pub struct Review {
    git: Git,
    /// The door to our git directory.
    door: Door,
    repository: Option<Repository>,
    /// The project's path inside of the work tree, empty or ending in `/`.
    prefix: String,
    own: OwnFiles,
}

impl Review {
    /// Opens the project at `root` (a real path). Our git directory in `state` is created if it is missing.
    pub fn open(root: &Path, state: &State) -> Result<Self, ReviewError> {
        Self::open_cancellable(&CancelToken::default(), root, state)
    }

    /// Does the same. `cancel` cancels this and all later calls.
    pub fn open_cancellable(cancel: &CancelToken, root: &Path, state: &State) -> Result<Self, ReviewError> {
        let tool = Tool::find(root)?;
        let private = ReviewDir::of(state, root).make(root)?;
        let own = OwnFiles::of(root, state.dir());
        let repository = super::branch::repository(root)
            .filter(|repository| is_own_repository(cancel, &tool, repository, root));
        let top = repository.as_ref().map_or(root, |repository| &repository.top);
        let prefix = match root.strip_prefix(top).ok().and_then(Path::to_str) {
            Some(inner) if !inner.is_empty() => format!("{inner}/"),
            _ => String::new(),
        };
        let git = Git::new(cancel, tool, root, top, &private)?;
        let review = Self { git, door: Door::state(&private), repository, prefix, own };
        let _lock = review.lock()?;
        review.make()?;
        Ok(review)
    }

    /// Takes a snapshot of the project's files.
    pub fn snapshot(&self) -> Result<TreeId, ReviewError> {
        self.snapshot_of(ScanScope::NotIgnored)
    }

    /// Does the same with ignored files, unless there are too many.
    fn snapshot_all(&self) -> Result<TreeId, ReviewError> {
        match self.snapshot_of(ScanScope::All) {
            Err(ReviewError::TooMany(_)) => self.snapshot_of(ScanScope::TooManyIgnored),
            taken => taken,
        }
    }

    fn snapshot_of(&self, scope: ScanScope) -> Result<TreeId, ReviewError> {
        let _lock = self.lock()?;
        match self.take(scope) {
            Err(ReviewError::Git { .. }) => {
                self.recreate_index()?;
                self.take(scope)
            }
            taken => taken,
        }
    }

    /// Removes objects that no snapshot of `runs` needs, once there are many. `runs` is in order of importance: while the
    /// objects take more than `most` bytes, those of the last runs are removed too. The user's objects are not in our
    /// store, and those of the current index are kept.
    pub fn prune(&self, most: u64, runs: impl FnOnce() -> Vec<Vec<TreeId>>) -> Result<(), ReviewError> {
        let _lock = self.lock()?;
        let (objects, bytes) = self.size()?;
        if objects <= MANY && bytes <= most {
            return Ok(());
        }
        let mut runs = runs();
        loop {
            self.prune_except(&runs.concat())?;
            if runs.is_empty() || self.size()?.1 <= most {
                return Ok(());
            }
            runs.truncate(runs.len() / 2);
        }
    }

    /// The number of our objects, and their size on disk in bytes.
    fn size(&self) -> Result<(u64, u64), ReviewError> {
        let count = ["count-objects", "-v"];
        let (mut objects, mut bytes) = (0, 0);
        for output in [self.git.run(&count, b"")?, self.git.run_on_trees(&count, b"")?] {
            let output = String::from_utf8_lossy(&output);
            let figure = |name: &str| {
                let line = output.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
                line.and_then(|figure| figure.trim().parse().ok()).unwrap_or(0_u64)
            };
            objects += figure("count") + figure("in-pack");
            bytes += (figure("size") + figure("size-pack")) << 10;
        }
        Ok((objects, bytes))
    }

    fn prune_except(&self, kept: &[TreeId]) -> Result<(), ReviewError> {
        let asked: String = kept.iter().map(|tree| format!("{}\n", tree.as_str())).collect();
        let known =
            self.git.run(&["cat-file", "--batch-check=%(objecttype) %(objectname)"], asked.as_bytes())?;
        let known = String::from_utf8_lossy(&known).into_owned();
        let trees = known.lines().filter_map(|line| line.strip_prefix("tree "));
        let args: Vec<&str> = ["prune", "--expire=now", "--"].into_iter().chain(trees).collect();
        self.git.run(&args, b"")?;
        self.git.run_on_trees(&args, b"").map(drop)
    }

    /// The files that git ignores, whether they exist or not; never tracked ones.
    pub fn ignored(&self, files: &[String]) -> Result<BTreeSet<String>, ReviewError> {
        let names: String = files.iter().map(|file| format!("{}{file}\0", self.prefix)).collect();
        // `check-ignore` exits with 1 if it ignores none of them.
        let told = self.git.run_ignoring_status(&["check-ignore", "-z", "--stdin"], names.as_bytes())?;
        let told = String::from_utf8_lossy(&told);
        let below = |name: &str| name.strip_prefix(self.prefix.as_str()).map(str::to_owned);
        Ok(told.split('\0').filter_map(below).filter(|name| !name.is_empty()).collect())
    }

    /// Whether the tree is still stored.
    fn has(&self, tree: &TreeId) -> bool {
        self.git.run(&["cat-file", "-e", &format!("{}^{{tree}}", tree.as_str())], b"").is_ok()
    }

    /// The text of a file in a snapshot; `None` if it did not exist or is not text.
    pub fn before(&self, tree: &TreeId, path: &str) -> Result<Option<String>, ReviewError> {
        let entry = |path: &str| {
            let args = ["--literal-pathspecs", "ls-tree", "-z", "--full-tree", tree.as_str(), "--", path];
            self.git.run(&args, b"")
        };
        let mut listed = entry(path)?;
        for name in [path.to_owned(), format!("{}{path}", rule_names::WITHIN)] {
            if listed.is_empty() {
                listed = entry(&rule_names::inner(&name))?;
            }
        }
        let listed = String::from_utf8_lossy(&listed);
        let Some((entry, _)) = listed.split_once('\t') else { return Ok(None) };
        let mut words = entry.split(' ');
        let (Some(_), Some("blob"), Some(blob)) = (words.next(), words.next(), words.next()) else {
            return Ok(None);
        };
        let bytes = match self.git.run(&["cat-file", "blob", blob], b"") {
            Err(ReviewError::Git { .. }) if self.git.run(&["cat-file", "-e", blob], b"").is_err() => {
                return Err(ReviewError::TextGone);
            }
            other => other?,
        };
        let text = bytes.len() <= TEXT && !bytes.contains(&0);
        Ok(text.then(|| String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn is_own(&self, path: &str) -> bool {
        self.own.has(path)
    }

    /// Locks our index against other editors. The lock is released when dropped, also by a crash.
    fn lock(&self) -> Result<File, ReviewError> {
        let file = self.door.open_or_create(Path::new("snapshot.lock"))?;
        let until = Instant::now() + BUSY;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(error)) => return Err(error.into()),
                Err(TryLockError::WouldBlock) if self.git.cancel().ended().is_some() => {
                    let busy = !self.git.cancel().is_set();
                    return Err(if busy { ReviewError::Busy } else { ReviewError::Unwanted });
                }
                Err(TryLockError::WouldBlock) if Instant::now() > until => return Err(ReviewError::Busy),
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }
}

/// Whether the repository is the project's own. A project in a directory that an outer repository ignores has none.
fn is_own_repository(cancel: &CancelToken, tool: &Tool, repository: &Repository, root: &Path) -> bool {
    match root.strip_prefix(&repository.top).map(Path::to_str) {
        Ok(Some("")) => true,
        Ok(Some(_)) => !git::ignores(cancel, tool, &repository.top, root),
        _ => false,
    }
}

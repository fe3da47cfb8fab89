//! What changed in the project since the last approval, for the gate to show.
//!
//! A snapshot is a git tree, made with a git directory of our own beside the run's files: its index begins as a copy of
//! the user's, so that unchanged files are not read again, and the user's objects are only borrowed, so that a large
//! repository costs nothing. The user's repository, index and files are never written to. Files that git ignores are
//! left out; nested repositories and submodules are looked into like folders; a project without git works as well.

mod git;
mod hurry;
mod own;
mod seed;
mod snapshot;

use super::branch::Repository;
use git::Git;
pub use hurry::Hurry;
use serde::{Deserialize, Serialize};
use std::fs::{self, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long another editor, which may have been stopped, is waited for.
const BUSY: Duration = Duration::from_secs(10);
/// More objects than this in one of git's 256 folders are worth a look at which are needed.
const MANY: usize = 16;
/// A text larger than this is not offered for a diff.
const TEXT: usize = 4 * 1024 * 1024;

/// A state of the project's files; also a digest of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TreeId(String);

impl TreeId {
    /// Reads back what [`TreeId::as_str`] gave; none where it cannot be one.
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
    /// It is new.
    #[serde(rename = "+")]
    Created,
    /// Its contents, kind or mode are different.
    #[serde(rename = "~")]
    Changed,
    /// It is gone.
    #[serde(rename = "-")]
    Deleted,
}

/// A file that is different.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Relative to the project's root.
    pub path: String,
    /// What happened.
    pub status: Status,
    /// Lines added; none for a file that is not text.
    pub added: Option<u64>,
    /// Lines removed; none for a file that is not text.
    pub removed: Option<u64>,
}

/// Why changes cannot be told. The text is a note for the gate.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    /// The program is missing.
    #[error("changed files are not listed, because the program \"git\" was not found; install git")]
    NoGit,
    /// It said no.
    #[error("changed files are not listed, because \"git {verb}\" failed: {message}")]
    Git {
        /// Its sub-command.
        verb: String,
        /// The first line that it wrote to standard error.
        message: String,
    },
    /// The project is no place for this.
    #[error(
        "changed files are not listed, because the project holds more than {0} files that git does not track"
    )]
    TooMany(usize),
    /// Another editor has been looking at the files all the time.
    #[error("changed files are not listed, because another editor is busy with them")]
    Busy,
    /// It did not end.
    #[error(
        "changed files are not listed, because \"git {verb}\" took longer than {} s; see what it waits for, and open \
         the gate again", .limit.as_secs()
    )]
    Late {
        /// Its sub-command.
        verb: String,
        /// How long it was waited for.
        limit: Duration,
    },
    /// Whoever wanted to know does so no more.
    #[error("changed files are not listed, because nobody waited for them")]
    Unwanted,
    /// Our own files could not be written.
    #[error("changed files are not listed: {0}")]
    Io(#[from] io::Error),
}

/// Takes and compares snapshots of one project.
#[derive(Debug)]
pub struct Review {
    git: Git,
    repository: Option<Repository>,
    /// The project inside the work tree, empty or ending in `/`.
    prefix: String,
    /// Paths of our own files inside the project, each ending in `/`.
    own: Vec<String>,
}

impl Review {
    /// For the project at `root` (a real path), with our own git directory at `private`, which is made if it is missing.
    pub fn open(root: &Path, private: &Path) -> Result<Self, ReviewError> {
        Self::open_unless(&Hurry::default(), root, private)
    }

    /// The same, given up wherever it is once `hurry` is set; and so is what is then done with it.
    pub fn open_unless(hurry: &Hurry, root: &Path, private: &Path) -> Result<Self, ReviewError> {
        let private = own::prepare(root, private)?;
        let mut own = vec![".claude/state/".to_owned(), ".claude/logs/".to_owned()];
        if let Some(inner) = private.strip_prefix(root).ok().and_then(Path::to_str) {
            own.push(format!("{inner}/"));
        }
        let repository = super::branch::repository(root).filter(|repository| knows(hurry, repository, root));
        let top = repository.as_ref().map_or(root, |repository| &repository.top);
        let prefix = match root.strip_prefix(top).ok().and_then(Path::to_str) {
            Some(inner) if !inner.is_empty() => format!("{inner}/"),
            _ => String::new(),
        };
        let git = Git::new(hurry, root, top, &private)?;
        let review = Self { git, repository, prefix, own };
        let _lock = review.lock()?;
        review.make()?;
        Ok(review)
    }

    /// The project's files as they are now.
    pub fn snapshot(&self) -> Result<TreeId, ReviewError> {
        let _lock = self.lock()?;
        match self.take() {
            Err(ReviewError::Git { .. }) => {
                self.begin_again()?;
                self.take()
            }
            taken => taken,
        }
    }

    /// Throws away what no snapshot in `kept` needs, once there is much of it. Only what is ours: the user's objects are
    /// borrowed, and are not here.
    pub fn prune(&self, kept: &[TreeId]) -> Result<(), ReviewError> {
        let _lock = self.lock()?;
        // One of 256 folders tells how many objects there are, as git itself estimates it.
        let some = fs::read_dir(self.git.dir().join("objects/17")).map_or(0, Iterator::count);
        if some <= MANY {
            return Ok(());
        }
        let asked: String = kept.iter().map(|tree| format!("{}\n", tree.as_str())).collect();
        let known =
            self.git.run(&["cat-file", "--batch-check=%(objecttype) %(objectname)"], asked.as_bytes())?;
        let known = String::from_utf8_lossy(&known).into_owned();
        let trees = known.lines().filter_map(|line| line.strip_prefix("tree "));
        let args: Vec<&str> = ["prune", "--expire=now", "--"].into_iter().chain(trees).collect();
        self.git.run(&args, b"").map(drop)
    }

    /// The files that differ between two snapshots, sorted by path.
    pub fn changes(&self, from: &TreeId, to: &TreeId) -> Result<Vec<Change>, ReviewError> {
        if from == to {
            return Ok(Vec::new());
        }
        let mode = ["--raw", "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color"];
        let output = self
            .git
            .run(&[&["diff-tree", "-r", "-z"], &mode[..], &[from.as_str(), to.as_str()]].concat(), b"")?;
        let mut changes = parse_changes(&output);
        changes.retain(|change| !self.is_own(&change.path));
        Ok(changes)
    }

    /// The text of a file in a snapshot; none where it was missing, or is no text.
    pub fn before(&self, tree: &TreeId, path: &str) -> Result<Option<String>, ReviewError> {
        let listed = self
            .git
            .run(&["--literal-pathspecs", "ls-tree", "-z", "--full-tree", tree.as_str(), "--", path], b"")?;
        let listed = String::from_utf8_lossy(&listed);
        let Some((entry, _)) = listed.split_once('\t') else { return Ok(None) };
        let mut words = entry.split(' ');
        let (Some(_), Some("blob"), Some(blob)) = (words.next(), words.next(), words.next()) else {
            return Ok(None);
        };
        let bytes = self.git.run(&["cat-file", "blob", blob], b"")?;
        let text = bytes.len() <= TEXT && !bytes.contains(&0);
        Ok(text.then(|| String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn is_own(&self, path: &str) -> bool {
        self.own.iter().any(|own| path.starts_with(own.as_str()))
    }

    /// Keeps two editors from writing our index at once. Freed when dropped, also by a crash.
    fn lock(&self) -> Result<fs::File, ReviewError> {
        let file = fs::File::create(self.git.dir().join("snapshot.lock"))?;
        let until = Instant::now() + BUSY;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(error)) => return Err(error.into()),
                Err(TryLockError::WouldBlock) if self.git.hurry().is_set() => {
                    return Err(ReviewError::Unwanted);
                }
                Err(TryLockError::WouldBlock) if Instant::now() > until => return Err(ReviewError::Busy),
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }
}

/// Whether the repository is the project's: a project in a folder that an outer repository ignores stands for itself.
fn knows(hurry: &Hurry, repository: &Repository, root: &Path) -> bool {
    match root.strip_prefix(&repository.top).map(Path::to_str) {
        Ok(Some("")) => true,
        Ok(Some(_)) => !git::ignores(hurry, &repository.top, root),
        _ => false,
    }
}

/// Reads `diff-tree -z --raw --numstat`: first the raw records, then the numbers.
fn parse_changes(output: &[u8]) -> Vec<Change> {
    let mut fields = output.split(|byte| *byte == 0).map(|field| String::from_utf8_lossy(field).into_owned());
    let mut changes: Vec<Change> = Vec::new();
    while let Some(field) = fields.next() {
        if let Some(raw) = field.strip_prefix(':') {
            let status = match raw.chars().last() {
                Some('A') => Status::Created,
                Some('D') => Status::Deleted,
                _ => Status::Changed,
            };
            let Some(path) = fields.next() else { break };
            changes.push(Change { path, status, added: None, removed: None });
            continue;
        }
        let mut parts = field.splitn(3, '\t');
        let (Some(added), Some(removed), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        if let Ok(at) = changes.binary_search_by(|change| change.path.as_str().cmp(path)) {
            changes[at].added = added.parse().ok();
            changes[at].removed = removed.parse().ok();
        } else if let Some(change) = changes.iter_mut().find(|change| change.path == path) {
            change.added = added.parse().ok();
            change.removed = removed.parse().ok();
        }
    }
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    changes
}

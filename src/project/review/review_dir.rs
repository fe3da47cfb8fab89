//! The directory of a project's reviews. It is in our state directory, which a repository cannot fill with files of its own,
//! and named by 16 digits of the SHA-256 of the project's root.

use super::ReviewError;
use crate::store::beneath::{Door, SMALL};
use crate::store::state::{self, State};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The directory of all projects' reviews in our state directory.
const REVIEWS: &str = "reviews";
/// Our git directory in a project's directory.
const GIT: &str = "review.git";
/// The file with the project's root.
const ROOT: &str = "root";
/// The file with the time when the root was first missing, in seconds since the epoch.
const GONE: &str = "gone-since";
/// The file that marks that the user was informed about the git directory of earlier versions.
const TOLD: &str = "told-of-earlier-place";
/// The git directory of earlier versions, in the project. It is not used any more, because a repository may contain one.
pub const EARLIER: &str = ".claude/state/review.git";
/// How long the reviews of a missing project are kept, in seconds. It may be on a disk that is mounted again.
const GONE_FOR: i64 = 30 * 24 * 60 * 60;

/// The directory of one project's reviews.
#[derive(Clone, Debug)]
pub struct ReviewDir {
    state: State,
    inner: PathBuf,
}

impl ReviewDir {
    /// The directory for the project at `root` (a real path). This creates nothing.
    pub fn of(state: &State, root: &Path) -> Self {
        Self { state: state.clone(), inner: Path::new(REVIEWS).join(state::project(root)) }
    }

    /// Our git directory.
    pub fn git(&self) -> PathBuf {
        self.state.dir().join(&self.inner).join(GIT)
    }

    /// Creates the directory and the file with the root. Returns the real path of our git directory.
    pub(super) fn make(&self, root: &Path) -> Result<PathBuf, ReviewError> {
        let unusable = |error| ReviewError::State { dir: self.state.dir().to_owned(), error };
        let git = self.state.make(&self.inner.join(GIT)).map_err(unusable)?;
        let named = self.inner.join(ROOT);
        let root = root.as_os_str().as_bytes();
        if self.state.door().read(&named, SMALL).is_ok_and(|there| there == root) {
            return Ok(git.canonicalize()?);
        }
        self.state.door().replace(&named, root).map_err(unusable)?;
        Ok(git.canonicalize()?)
    }

    /// Whether to inform the user, once, that the git directory of earlier versions is not used any more. It is never read
    /// or removed.
    pub fn earlier_is_news(&self, root: &Path) -> bool {
        let there = Door::ours(root).lstat(Path::new(EARLIER)).is_ok();
        let told = self.inner.join(TOLD);
        there
            && !self.state.door().is_file(&told)
            && self.make(root).is_ok()
            && self.state.door().create_new(&told).is_ok()
    }
}

/// Removes the reviews of projects that have been missing for long. `now` is in seconds since the epoch.
pub fn clear(state: &State, now: i64) {
    let door = state.door();
    for entry in door.list(Path::new(REVIEWS)).unwrap_or_default().into_iter().filter(|entry| entry.is_dir) {
        let place = Path::new(REVIEWS).join(entry.name);
        let stamp = place.join(GONE);
        // A directory without a root was not created completely.
        let named = door.read(&place.join(ROOT), SMALL).map(OsString::from_vec);
        if named.is_ok_and(|root| !is_gone(Path::new(&root))) {
            let _ = door.remove_file(&stamp);
            continue;
        }
        let since = door.read_text(&stamp, SMALL).ok().and_then(|text| text.trim().parse::<i64>().ok());
        // Errors are ignored, because this is called again for later runs.
        let _ = match since {
            Some(since) if since <= now && now - since < GONE_FOR => Ok(()),
            Some(since) if since <= now => door.remove_tree(&place),
            // Missing for the first time, or the stored time is in the future because a clock was wrong.
            _ => door.replace(&stamp, now.to_string().as_bytes()),
        };
    }
}

/// Whether the directory certainly does not exist. One that cannot be read may exist.
fn is_gone(root: &Path) -> bool {
    match root.metadata() {
        Ok(meta) => !meta.is_dir(),
        Err(error) => matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
    }
}

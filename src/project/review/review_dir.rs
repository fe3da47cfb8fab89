//! Where the reviews of a project are kept: in our state, where no repository can bring anything along, in a folder
//! that is named by 16 digits of the SHA-256 of the project's root.

use super::ReviewError;
use crate::store::beneath::{Door, SMALL};
use crate::store::state::{self, State};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The folder of all projects' reviews in our state.
const REVIEWS: &str = "reviews";
/// Our git directory in a project's folder.
const GIT: &str = "review.git";
/// The project's root, as bytes.
const ROOT: &str = "root";
/// When the root was first seen to be gone, in seconds since the epoch.
const GONE: &str = "gone-since";
/// The user was told of the git directory of earlier versions.
const TOLD: &str = "told-of-earlier-place";
/// Where earlier versions had it, in the project. A repository may have brought it along: it is not used any more.
pub const EARLIER: &str = ".claude/state/review.git";
/// How long the reviews of a project that is gone are kept: it may lie on a disk that comes back.
const GONE_FOR: i64 = 30 * 24 * 60 * 60;

/// The folder of one project.
#[derive(Clone, Debug)]
pub struct ReviewDir {
    state: State,
    inner: PathBuf,
}

impl ReviewDir {
    /// That of the project at `root` (a real path), which is not made yet.
    pub fn of(state: &State, root: &Path) -> Self {
        Self { state: state.clone(), inner: Path::new(REVIEWS).join(state::project(root)) }
    }

    /// Our git directory.
    pub fn git(&self) -> PathBuf {
        self.state.dir().join(&self.inner).join(GIT)
    }

    /// Makes it, and names the project in it; gives the real path of our git directory.
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

    /// Whether the user is to be told, once, that the git directory of earlier versions in the project is of no use
    /// any more. It is left alone, and never read.
    pub fn earlier_is_news(&self, root: &Path) -> bool {
        let there = Door::ours(root).lstat(Path::new(EARLIER)).is_ok();
        let told = self.inner.join(TOLD);
        there
            && !self.state.door().is_file(&told)
            && self.make(root).is_ok()
            && self.state.door().create_new(&told).is_ok()
    }
}

/// Removes the reviews of projects that are gone, and have been for long. `now` is in seconds since the epoch.
pub fn clear(state: &State, now: i64) {
    let door = state.door();
    for entry in door.list(Path::new(REVIEWS)).unwrap_or_default().into_iter().filter(|entry| entry.is_dir) {
        let place = Path::new(REVIEWS).join(entry.name);
        let stamp = place.join(GONE);
        // A folder that names no project is one that was not finished.
        let named = door.read(&place.join(ROOT), SMALL).map(OsString::from_vec);
        if named.is_ok_and(|root| !is_gone(Path::new(&root))) {
            let _ = door.remove_file(&stamp);
            continue;
        }
        let since = door.read_text(&stamp, SMALL).ok().and_then(|text| text.trim().parse::<i64>().ok());
        // What cannot be done now is done another time.
        let _ = match since {
            Some(since) if since <= now && now - since < GONE_FOR => Ok(()),
            Some(since) if since <= now => door.remove_tree(&place),
            // Not seen before; or by a clock that was wrong.
            _ => door.replace(&stamp, now.to_string().as_bytes()),
        };
    }
}

/// Whether there is surely no such folder. One that cannot be looked at is not gone.
fn is_gone(root: &Path) -> bool {
    match root.metadata() {
        Ok(meta) => !meta.is_dir(),
        Err(error) => matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
    }
}

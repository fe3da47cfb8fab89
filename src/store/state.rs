//! *Our state*: one folder of this user's, outside of every project, the same for every editor and for what is not an
//! editor. It holds what no repository may bring along: the key of the seals, the answers about trust, the git
//! directories of reviews.

use super::beneath::Door;
use sha2::{Digest, Sha256};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The folder. It is made when something is first written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    door: Door,
}

impl State {
    /// At the folder that the configuration names, else where the environment says (`$XDG_STATE_HOME/superpower`, else
    /// `~/.local/state/superpower`). `None` where there is not even a home.
    pub fn at(configured: Option<&Path>) -> Option<Self> {
        let whole =
            |name: &str| crate::environ::get(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let dir = configured.map(Path::to_owned).or_else(|| {
            let state = whole("XDG_STATE_HOME").or_else(|| Some(whole("HOME")?.join(".local/state")))?;
            Some(state.join("superpower"))
        })?;
        Some(Self { door: Door::state(&dir) })
    }

    /// The door to it: for its user alone, and no link below it is followed.
    pub fn door(&self) -> &Door {
        &self.door
    }

    /// The folder itself.
    pub fn dir(&self) -> &Path {
        self.door.base()
    }

    /// Whether it lies outside of a project. What lies in one may have come with it.
    pub fn is_outside(&self, root: &Path) -> bool {
        !self.real().starts_with(root)
    }

    /// Where it really is, as far as there is anything of it.
    pub fn real(&self) -> PathBuf {
        self.dir().ancestors().find_map(|dir| super::beneath::real(dir).ok()).unwrap_or_default()
    }

    /// Makes a folder in it, for its user alone.
    pub fn make(&self, inner: &Path) -> io::Result<PathBuf> {
        self.door.create_dirs(inner)?;
        Ok(self.dir().join(inner))
    }
}

/// What stands for a project in names of ours: 16 hexadecimal digits of its real root's SHA-256.
pub fn project(root: &Path) -> String {
    let digest = Sha256::digest(root.as_os_str().as_bytes());
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

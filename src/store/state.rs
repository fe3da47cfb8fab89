//! *Our state*: one folder per user, outside of every project and shared by all editors and tools. It holds what a
//! repository must not bring along: the key of the seals, the answers about trust, and the git directories of
//! reviews.

use super::beneath::Door;
use sha2::{Digest, Sha256};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The state folder. It is created on the first write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    door: Door,
}

impl State {
    /// The configured folder, or else `$XDG_STATE_HOME/superpower` or `~/.local/state/superpower`. `None` if there is
    /// no home folder either.
    pub fn at(configured: Option<&Path>) -> Option<Self> {
        let whole =
            |name: &str| crate::environ::get(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let dir = configured.map(Path::to_owned).or_else(|| {
            let state = whole("XDG_STATE_HOME").or_else(|| Some(whole("HOME")?.join(".local/state")))?;
            Some(state.join("superpower"))
        })?;
        Some(Self { door: Door::state(&dir) })
    }

    /// A door that creates private files and follows no link below the folder.
    pub fn door(&self) -> &Door {
        &self.door
    }

    pub fn dir(&self) -> &Path {
        self.door.base()
    }

    /// Whether the folder is outside of the project. A repository may have brought a folder inside it.
    pub fn is_outside(&self, root: &Path) -> bool {
        !self.real().starts_with(root)
    }

    /// The real path of the folder, as far as it exists.
    pub fn real(&self) -> PathBuf {
        self.dir().ancestors().find_map(|dir| super::beneath::real(dir).ok()).unwrap_or_default()
    }

    /// Creates a private folder in it.
    pub fn make(&self, inner: &Path) -> io::Result<PathBuf> {
        self.door.create_dirs(inner)?;
        Ok(self.dir().join(inner))
    }
}

/// The project's part of names in our state: 16 hexadecimal digits of the SHA-256 of its real root.
pub fn project(root: &Path) -> String {
    let digest = Sha256::digest(root.as_os_str().as_bytes());
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

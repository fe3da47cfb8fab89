//! The door itself: a folder, and which links are followed on the way to what is below it.

use std::path::{Path, PathBuf};

/// Which symbolic links are followed on the way to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// None: for files that only we write. `.claude` itself may be a link that stays in the project.
    None,
    /// Those that stay below the folder: for what people write in a project.
    Beneath,
    /// All: for the user's own files, outside of projects.
    All,
}

/// A folder, through which the files below it are reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Door {
    pub(super) base: PathBuf,
    pub(super) links: Links,
    /// Whether what is made is for its user alone.
    pub(super) private: bool,
}

impl Door {
    /// Files of the project that only we write: the run state, the logs, a track's checkpoint. `root` is a real path.
    pub fn ours(root: &Path) -> Self {
        Self { base: root.to_owned(), links: Links::None, private: false }
    }

    /// Files of the project that people write: superpowers, agents, skills, stories. `root` is a real path.
    pub fn people(root: &Path) -> Self {
        Self { base: root.to_owned(), links: Links::Beneath, private: false }
    }

    /// The user's own files below a folder outside of projects, such as `~/.claude`.
    pub fn home(dir: &Path) -> Self {
        Self { base: dir.to_owned(), links: Links::All, private: false }
    }

    /// For a file that people write, wherever it lies: in the project, or among the user's own.
    pub fn to(root: &Path, path: &Path) -> Self {
        if path.starts_with(root) {
            return Self::people(root);
        }
        Self::home(path.parent().unwrap_or(path))
    }

    /// A state folder of ours, outside of projects. The path to it may hold links, what is below it none.
    pub fn state(dir: &Path) -> Self {
        Self { base: dir.to_owned(), links: Links::None, private: true }
    }

    /// The folder.
    pub fn base(&self) -> &Path {
        &self.base
    }
}

//! A door: a base folder, and which links may be followed on the way to the files below it.

use std::path::{Path, PathBuf};

/// Which symbolic links are followed on the way to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// No link, for files that only we write. `.claude` itself may be a link, if its target is in the project.
    None,
    /// Links whose target is below the base, for files that people write in a project.
    Beneath,
    /// All links, for the user's own files outside of projects.
    All,
}

/// A base folder through which the files below it are opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Door {
    pub(super) base: PathBuf,
    pub(super) links: Links,
    /// Whether new files and folders are created for the user only (0600, 0700).
    pub(super) private: bool,
}

impl Door {
    /// The project's files that only we write: run state, logs, a track's checkpoint. `root` must be a real path.
    pub fn ours(root: &Path) -> Self {
        Self { base: root.to_owned(), links: Links::None, private: false }
    }

    /// The project's files that people write: superpowers, agents, skills, stories. `root` must be a real path.
    pub fn people(root: &Path) -> Self {
        Self { base: root.to_owned(), links: Links::Beneath, private: false }
    }

    /// The user's own files below a folder outside of projects, such as `~/.claude`.
    pub fn home(dir: &Path) -> Self {
        Self { base: dir.to_owned(), links: Links::All, private: false }
    }

    /// A file that people write, in the project or among the user's own files.
    pub fn to(root: &Path, path: &Path) -> Self {
        if path.starts_with(root) {
            return Self::people(root);
        }
        Self::home(path.parent().unwrap_or(path))
    }

    /// Our state folder, outside of projects. The path to it may contain links; paths below it may not.
    pub fn state(dir: &Path) -> Self {
        Self { base: dir.to_owned(), links: Links::None, private: true }
    }

    pub fn base(&self) -> &Path {
        &self.base
    }
}

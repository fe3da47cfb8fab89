//! The places that are searched for superpowers, agents and skills.

use serde::Serialize;
use std::path::{Path, PathBuf};

/// The places to search besides the project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The home directory; `None` searches the project only.
    pub home: Option<PathBuf>,
    /// More directories with superpowers, from the user's configuration: relative to the project, absolute, or `~/…`.
    pub extra: Vec<PathBuf>,
}

impl Places {
    /// The home directory from the environment, and the extra directories of the configuration.
    pub fn from_env(extra: Vec<PathBuf>) -> Self {
        Self { home: super::root::home(), extra }
    }
}

/// The kind of place in which a file was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    Project,
    OpenCode,
    /// The project's `.agents`, which several tools share.
    Agents,
    /// The project's `.github`, where Copilot keeps its agents.
    GitHub,
    /// A directory from the configuration.
    Extra,
    User,
    UserAgents,
    UserOpenCode,
}

/// A directory to search, and the bound of its links: the project, or none for the user's own files.
pub(super) type Place = (PathBuf, Option<PathBuf>, Source);

/// Project folders as places to search, in this order.
pub(super) fn of_project(root: &Path, folders: &[(&str, Source)]) -> Vec<Place> {
    folders.iter().map(|(dir, source)| (root.join(dir), Some(root.to_path_buf()), *source)).collect()
}

/// Folders of the home directory as places to search, in this order; empty without a home directory.
pub(super) fn of_user(places: &Places, folders: &[(&str, Source)]) -> Vec<Place> {
    let home = places.home.iter();
    home.flat_map(|home| folders.iter().map(|(dir, source)| (home.join(dir), None, *source))).collect()
}

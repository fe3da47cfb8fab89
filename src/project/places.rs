//! The places where superpowers, agents and skills are looked for.

use serde::Serialize;
use std::path::{Path, PathBuf};

/// Where to look besides the project itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The home directory; none looks in the project only.
    pub home: Option<PathBuf>,
    /// More directories with superpowers, from the user's own configuration: relative to the project, absolute, or `~/…`.
    pub extra: Vec<PathBuf>,
}

impl Places {
    /// The home directory from the environment, and the extra directories of the configuration.
    pub fn from_env(extra: Vec<PathBuf>) -> Self {
        Self { home: super::root::home(), extra }
    }
}

/// Which kind of place a file was found in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The project's `.claude`.
    Project,
    /// The project's `.opencode`.
    OpenCode,
    /// The project's `.agents`, which several tools share.
    Agents,
    /// The project's `.github`, where Copilot keeps its agents.
    GitHub,
    /// A directory of the configuration.
    Extra,
    /// `~/.claude`.
    User,
    /// `~/.agents`.
    UserAgents,
    /// OpenCode's own configuration.
    UserOpenCode,
}

/// A directory to look in, with the bound for its symlinks: the project, or none for what is the user's own.
pub(super) type Place = (PathBuf, Option<PathBuf>, Source);

/// Folders of the project as places to look in, in this order.
pub(super) fn of_project(root: &Path, folders: &[(&str, Source)]) -> Vec<Place> {
    folders.iter().map(|(dir, source)| (root.join(dir), Some(root.to_path_buf()), *source)).collect()
}

/// Folders of the home directory as places to look in, in this order; none without one.
pub(super) fn of_user(places: &Places, folders: &[(&str, Source)]) -> Vec<Place> {
    let home = places.home.iter();
    home.flat_map(|home| folders.iter().map(|(dir, source)| (home.join(dir), None, *source))).collect()
}

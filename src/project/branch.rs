//! The current git branch, read from git's own files: no process, so that deciding a fact starts nothing.

use std::fs;
use std::path::{Path, PathBuf};

/// A repository that holds a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// The top of its work tree.
    pub top: PathBuf,
    /// The git directory of this work tree, with its `HEAD` and `index`.
    pub dir: PathBuf,
    /// The git directory that all its work trees share, with the objects.
    pub common: PathBuf,
}

/// Where `HEAD` is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// On this branch.
    Branch(String),
    /// On a commit.
    Detached,
    /// Somewhere that git's files do not say in a way known here.
    Unknown,
}

/// The repository that `root` lies in, if any.
pub fn repository(root: &Path) -> Option<Repository> {
    root.ancestors().find_map(|top| {
        let dot = top.join(".git");
        let dir = if dot.is_dir() { dot } else { top.join(pointed(&dot, "gitdir:")?) };
        if dir.join("HEAD").symlink_metadata().is_err() {
            return None;
        }
        let common = pointed(&dir.join("commondir"), "").map_or_else(|| dir.clone(), |path| dir.join(path));
        Some(Repository { top: top.to_path_buf(), dir, common })
    })
}

/// Where `HEAD` of this repository is.
pub fn head(repository: &Repository) -> Head {
    let file = repository.dir.join("HEAD");
    if let Ok(target) = fs::read_link(&file) {
        return target.to_str().and_then(branch).unwrap_or(Head::Unknown);
    }
    let Ok(text) = fs::read_to_string(&file) else { return Head::Unknown };
    match text.trim().strip_prefix("ref:") {
        Some(target) => branch(target.trim()).unwrap_or(Head::Unknown),
        None => Head::Detached,
    }
}

fn branch(target: &str) -> Option<Head> {
    // With reftables the file holds this name, which no branch can have.
    target
        .strip_prefix("refs/heads/")
        .filter(|name| *name != ".invalid")
        .map(|name| Head::Branch(name.to_owned()))
}

fn pointed(file: &Path, prefix: &str) -> Option<PathBuf> {
    let text = fs::read_to_string(file).ok()?;
    let path = text.strip_prefix(prefix)?.trim();
    (!path.is_empty()).then(|| PathBuf::from(path))
}

//! Reads the current git branch from git's own files, so that deciding a fact starts no process.

use crate::store::beneath::{Door, Kind};
use std::path::{Path, PathBuf};

/// Size limit of a git file that names a path or a branch, in bytes.
const POINTER: u64 = 64 << 10;

/// The repository that contains a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// The top of its work tree.
    pub top: PathBuf,
    /// The git directory of this work tree, with its `HEAD` and `index`.
    pub dir: PathBuf,
    /// The git directory that all its work trees share, with the objects.
    pub common: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    Branch(String),
    /// On a commit, without a branch.
    Detached,
    /// Git's files do not say it in a form that we know.
    Unknown,
}

/// The repository that contains `root`, if any.
pub fn repository(root: &Path) -> Option<Repository> {
    root.ancestors().find_map(|top| {
        let dot = top.join(".git");
        // It may point out of the project: to the repository of a work tree or a submodule.
        let dir = match Door::home(top).stat(&dot).ok()?.kind {
            Kind::Dir => dot,
            _ => top.join(pointed(&dot, "gitdir:")?),
        };
        Door::home(&dir).lstat(Path::new("HEAD")).ok()?;
        let common = pointed(&dir.join("commondir"), "").map_or_else(|| dir.clone(), |path| dir.join(path));
        Some(Repository { top: top.to_path_buf(), dir, common })
    })
}

/// Reads `HEAD` of this repository.
pub fn head(repository: &Repository) -> Head {
    let (door, file) = (Door::home(&repository.dir), Path::new("HEAD"));
    if let Ok(target) = door.read_link(file) {
        return target.to_str().and_then(branch).unwrap_or(Head::Unknown);
    }
    let Ok(text) = door.read_text(file, POINTER) else { return Head::Unknown };
    match text.trim().strip_prefix("ref:") {
        Some(target) => branch(target.trim()).unwrap_or(Head::Unknown),
        None => Head::Detached,
    }
}

fn branch(target: &str) -> Option<Head> {
    // With reftables the file contains this name, which no branch can have.
    target
        .strip_prefix("refs/heads/")
        .filter(|name| *name != ".invalid")
        .map(|name| Head::Branch(name.to_owned()))
}

fn pointed(file: &Path, prefix: &str) -> Option<PathBuf> {
    let text = Door::home(file.parent()?).read_text(file, POINTER).ok()?;
    let path = text.strip_prefix(prefix)?.trim();
    (!path.is_empty()).then(|| PathBuf::from(path))
}

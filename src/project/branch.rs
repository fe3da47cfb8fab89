//! The current git branch, read from git's own files: no process, so that deciding a fact starts nothing.

use crate::store::beneath::{Door, Kind};
use std::path::{Path, PathBuf};

/// Bytes of a file of git's that names a place or a branch.
const POINTER: u64 = 64 << 10;

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
        // It may well point out of the project: at the repository of a work tree or of a submodule.
        let dir = match Door::home(top).stat(&dot).ok()?.kind {
            Kind::Dir => dot,
            _ => top.join(pointed(&dot, "gitdir:")?),
        };
        Door::home(&dir).lstat(Path::new("HEAD")).ok()?;
        let common = pointed(&dir.join("commondir"), "").map_or_else(|| dir.clone(), |path| dir.join(path));
        Some(Repository { top: top.to_path_buf(), dir, common })
    })
}

/// Where `HEAD` of this repository is.
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
    // With reftables the file holds this name, which no branch can have.
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

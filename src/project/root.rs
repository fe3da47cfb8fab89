//! Finds the root of a project.
//!
//! Every user of Claude Code has a `~/.claude`, so searching all parents would make every home directory a project.
//! The search therefore stops at the git root, and never returns the home directory or a parent of it.

use crate::store::beneath::{Door, Kind, real};
use std::fmt;
use std::path::{Path, PathBuf};

/// Folders that mark their directory as a project without further search.
const SUPERPOWERS: [&str; 3] = [".claude/superpowers", ".claude/taffy", ".opencode/superpowers"];

/// No directory can be a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoProject {
    /// The searched directories, in order.
    pub looked: Vec<PathBuf>,
}

impl fmt::Display for NoProject {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("no project: looked in ")?;
        for (at, path) in self.looked.iter().enumerate() {
            write!(out, "{}\"{}\"", if at == 0 { "" } else { ", " }, path.display())?;
        }
        for dir in &self.looked {
            let door = Door::home(dir);
            for name in [".claude", ".opencode"].map(Path::new) {
                let is_link = door.lstat(name).is_ok_and(|there| there.kind == Kind::Link);
                if is_link && door.stat(name).is_err() {
                    write!(out, "; \"{}\" is a broken link", dir.join(name).display())?;
                }
            }
        }
        out.write_str("; the home directory and its parents are never a project; open a file of the project, or change to its folder")
    }
}

impl std::error::Error for NoProject {}

/// The root for a buffer's `file` (of a normal buffer only) and a working directory. The home directory is `$HOME`.
pub fn find(file: Option<&Path>, cwd: &Path) -> Result<PathBuf, NoProject> {
    find_from(file, cwd, home().as_deref())
}

/// The user's home directory, from the environment.
pub fn home() -> Option<PathBuf> {
    crate::environ::get("HOME").map(PathBuf::from)
}

/// Like [`find`], with a given home directory.
pub fn find_from(file: Option<&Path>, cwd: &Path, home: Option<&Path>) -> Result<PathBuf, NoProject> {
    let home = home.map(|home| real(home).unwrap_or_else(|_| home.to_path_buf()));
    let mut looked = Vec::new();
    let by_file = match file.and_then(|file| directory_of(file, cwd)) {
        Some(start) => search(&start, home.as_deref(), &mut looked),
        None => Found::Nothing,
    };
    if let Found::Marked(root) = by_file {
        return Ok(root);
    }
    let Ok(cwd) = real(cwd) else {
        looked.push(cwd.to_path_buf());
        return by_file.path().ok_or(NoProject { looked });
    };
    let by_cwd = search(&cwd, home.as_deref(), &mut looked);
    if let Found::Marked(root) = by_cwd {
        return Ok(root);
    }
    if let Some(root) = by_file.path().or_else(|| by_cwd.path()) {
        return Ok(root);
    }
    if forbidden(&cwd, home.as_deref()) { Err(NoProject { looked }) } else { Ok(cwd) }
}

enum Found {
    /// Contains `.claude` or `.opencode`.
    Marked(PathBuf),
    /// Only a git root.
    Git(PathBuf),
    Nothing,
}

impl Found {
    fn path(&self) -> Option<PathBuf> {
        match self {
            Self::Marked(path) | Self::Git(path) => Some(path.clone()),
            Self::Nothing => None,
        }
    }
}

fn search(start: &Path, home: Option<&Path>, looked: &mut Vec<PathBuf>) -> Found {
    let mut marked = None;
    for dir in start.ancestors() {
        if !looked.iter().any(|seen| seen == dir) {
            looked.push(dir.to_path_buf());
        }
        if forbidden(dir, home) {
            break;
        }
        let door = Door::home(dir);
        let holds = |inner: &str| door.is_dir(Path::new(inner));
        if SUPERPOWERS.into_iter().any(holds) {
            return Found::Marked(dir.to_path_buf());
        }
        if marked.is_none() && (holds(".claude") || holds(".opencode")) {
            marked = Some(dir.to_path_buf());
        }
        if door.stat(Path::new(".git")).is_ok() {
            return marked.map_or_else(|| Found::Git(dir.to_path_buf()), Found::Marked);
        }
    }
    marked.map_or(Found::Nothing, Found::Marked)
}

/// Whether this is the home directory, a parent of it, or the file system's root.
fn forbidden(dir: &Path, home: Option<&Path>) -> bool {
    dir.parent().is_none() || home.is_some_and(|home| home.starts_with(dir))
}

/// The real path of the nearest existing directory above `file`, which need not exist.
fn directory_of(file: &Path, cwd: &Path) -> Option<PathBuf> {
    if file.as_os_str().is_empty() {
        return None;
    }
    cwd.join(file).parent()?.ancestors().find_map(|dir| real(dir).ok().filter(|dir| is_dir(dir)))
}

fn is_dir(dir: &Path) -> bool {
    Door::home(dir).is_dir(Path::new(""))
}

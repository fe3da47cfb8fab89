//! Makes sure that our git directory is ours.
//!
//! It lies in the project, so a repository could bring one along: with a configuration that names programs to run, or
//! with symlinks by which our own writing would reach elsewhere. So what git reads settings from is written anew each
//! time, and a directory with symlinks in it is thrown away.

use super::ReviewError;
use super::git::says_sha256;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where git would find more settings, programs, or another directory to work in.
const FOREIGN: &[&str] =
    &["commondir", "gitdir", "config.worktree", "info/attributes", "info/grafts", "shallow", "hooks"];
/// What is written to.
const WRITTEN: &[&str] =
    &["", "HEAD", "config", "index", "info", "info/exclude", "objects", "objects/info", "refs", "seeded"];

/// Makes `private`, and gives its real path. It must not be somewhere else than it seems to be, if it is in the project.
pub(super) fn prepare(root: &Path, private: &Path) -> Result<PathBuf, ReviewError> {
    let linked = |name: &&str| private.join(name).symlink_metadata().is_ok_and(|meta| meta.is_symlink());
    if WRITTEN.iter().any(linked) {
        remove(private)?;
    }
    fs::create_dir_all(private)?;
    let real = private.canonicalize()?;
    if private.starts_with(root) && !real.starts_with(root) {
        let message = format!("\"{}\" leads out of the project", private.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message).into());
    }
    for name in FOREIGN {
        remove(&real.join(name))?;
    }
    let config = real.join("config");
    if let Ok(text) = fs::read_to_string(&config) {
        let sha256 = says_sha256(&text);
        let (version, extension) =
            if sha256 { (1, "[extensions]\n\tobjectformat = sha256\n") } else { (0, "") };
        let ours = format!("[core]\n\trepositoryformatversion = {version}\n\tbare = true\n{extension}");
        if text != ours {
            fs::write(&config, ours)?;
        }
    }
    Ok(real)
}

fn remove(path: &Path) -> io::Result<()> {
    let removed = match path.symlink_metadata() {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

//! The directory of a run: `.claude/state/runs/RUN_ID/`.

use super::keyring::Keyring;
use super::{atomic, disk, summary};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The runs of a project.
pub fn runs(root: &Path) -> PathBuf {
    root.join(".claude/state/runs")
}

/// One run's directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunDir {
    path: PathBuf,
}

impl RunDir {
    /// The directory of a run that may or may not exist.
    pub fn of(root: &Path, run_id: &str) -> Self {
        Self { path: runs(root).join(run_id) }
    }

    /// Makes the directory of a new run, and keeps the project's state out of git.
    pub fn create(root: &Path, run_id: &str) -> io::Result<Self> {
        let dir = Self::of(root, run_id);
        disk::pass(disk::Op::Write, &dir.path)?;
        let state = root.join(".claude/state");
        inside(root, &state)?;
        ignore(&state)?;
        inside(root, &dir.path)?;
        Ok(dir)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its journal.
    pub fn journal(&self) -> PathBuf {
        self.path.join("journal.jsonl")
    }

    /// Keeps a copy of the declaration and gives the copy's name. One that is there already is not written again.
    pub fn keep_declaration(&self, bytes: &[u8]) -> io::Result<String> {
        let mut n = 1;
        loop {
            let name = format!("declaration-{n}.yaml");
            let path = self.path.join(&name);
            match fs::read(&path) {
                Ok(there) if there == bytes => return Ok(name),
                Ok(_) => n += 1,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    atomic::replace(&path, bytes)?;
                    return Ok(name);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// A kept copy of the declaration.
    pub fn declaration(&self, name: &str) -> io::Result<Vec<u8>> {
        let path = self.path.join(Path::new(name).file_name().unwrap_or_default());
        disk::pass(disk::Op::Read, &path)?;
        fs::read(path)
    }

    /// The directory of one launch, e.g. `attempts/0007-stage-04`.
    pub fn attempt(&self, launch: u32, stage: usize) -> PathBuf {
        self.path.join(format!("attempts/{launch:04}-stage-{:02}", stage + 1))
    }
}

/// The ids of all runs, newest first. Ids are UUIDs of version 7, which sort by time.
pub fn ids(root: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(runs(root)) else { return Vec::new() };
    let mut ids: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .collect();
    ids.sort_unstable_by(|a, b| b.cmp(a));
    ids
}

/// Deletes the oldest finished runs beyond `keep`. Unfinished runs, `current`, and runs that are not ours, whatever
/// their files say, are never deleted.
pub fn prune(root: &Path, keys: &Keyring, keep: usize, current: &str) {
    let over = |id: &String| summary::read(root, id, keys).is_some_and(|kept| kept.summary.over());
    for id in ids(root).into_iter().skip(keep).filter(|id| id != current).filter(over) {
        let _ = fs::remove_dir_all(runs(root).join(id));
    }
    keys.forget_others(root, &ids(root));
}

/// Makes a directory of ours. A repository may have made it, or one above it, a link: no path leaves the project.
pub fn inside(root: &Path, dir: &Path) -> io::Result<()> {
    // What is there already decides, so that nothing is made behind a link either.
    let there = dir.ancestors().find_map(|dir| dir.canonicalize().ok()).unwrap_or_default();
    if there.starts_with(root.canonicalize()?) {
        return fs::create_dir_all(dir);
    }
    let message = format!(
        "\"{}\" leads out of the project, to \"{}\"; make it a directory",
        dir.display(),
        there.display()
    );
    Err(io::Error::other(message))
}

/// Opens a file of ours. A repository may have made it a link to a file of somebody else's, which stays as it is.
pub fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.custom_flags(libc::O_NOFOLLOW).open(path).map_err(|error| match error.raw_os_error() {
        Some(libc::ELOOP) => io::Error::other(format!("\"{}\" is a link; remove it", path.display())),
        _ => error,
    })
}

/// Keeps a directory of ours out of git, unless somebody has decided otherwise.
pub fn ignore(dir: &Path) -> io::Result<()> {
    let made = OpenOptions::new().write(true).create_new(true).open(dir.join(".gitignore"));
    match made {
        Ok(mut file) => file.write_all(b"*\n"),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

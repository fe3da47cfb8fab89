//! The directory of a run: `.claude/state/runs/RUN_ID/`.

use super::beneath::Door;
use super::disk;
use super::names::{self, NotARunId};
use std::io;
use std::path::{Path, PathBuf};

/// Bytes of a kept declaration: more than the checker takes.
const DECLARATION: u64 = 2 << 20;
/// Copies of its declaration that a run keeps.
const COPIES: usize = 1000;

/// The runs of a project.
pub fn runs(root: &Path) -> PathBuf {
    root.join(".claude/state/runs")
}

/// One run's directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunDir {
    root: PathBuf,
    run_id: String,
    path: PathBuf,
}

impl RunDir {
    /// The directory of a run that may or may not exist. What is not the id of a run has none.
    pub fn of(root: &Path, run_id: &str) -> Result<Self, NotARunId> {
        if !names::is_run_id(run_id) {
            return Err(NotARunId::new(run_id));
        }
        let path = runs(root).join(run_id);
        Ok(Self { root: root.to_owned(), run_id: run_id.to_owned(), path })
    }

    /// Makes the directory of a new run, and keeps the project's state out of git.
    pub fn create(root: &Path, run_id: &str) -> io::Result<Self> {
        let dir = Self::of(root, run_id).map_err(io::Error::other)?;
        disk::pass(disk::Op::Write, &dir.path)?;
        let (door, state) = (dir.door(), root.join(".claude/state"));
        door.create_dirs(&state)?;
        ignore(&door, &state)?;
        door.create_dirs(&dir.path)?;
        Ok(dir)
    }

    /// The project's root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The run's id.
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// The door to what is in it.
    pub fn door(&self) -> Door {
        Door::ours(&self.root)
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
        let door = self.door();
        for n in 1..=COPIES {
            let name = format!("declaration-{n}.yaml");
            let path = self.path.join(&name);
            match door.read(&path, DECLARATION) {
                Ok(there) if there == bytes => return Ok(name),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    door.replace(&path, bytes)?;
                    return Ok(name);
                }
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other(format!("\"{}\" keeps {COPIES} declarations already", self.path.display())))
    }

    /// A kept copy of the declaration.
    pub fn declaration(&self, name: &str) -> io::Result<Vec<u8>> {
        let path = self.path.join(Path::new(name).file_name().unwrap_or_default());
        self.door().read(&path, DECLARATION)
    }

    /// The directory of one launch, e.g. `attempts/0007-stage-04`.
    pub fn attempt(&self, launch: u32, stage: usize) -> PathBuf {
        self.path.join(format!("attempts/{launch:04}-stage-{:02}", stage + 1))
    }
}

/// The ids of all runs, newest first. Ids are UUIDs of version 7, which sort by time.
pub fn ids(root: &Path) -> Vec<String> {
    listed(root).unwrap_or_default()
}

/// The same, or why they cannot be listed.
pub fn listed(root: &Path) -> io::Result<Vec<String>> {
    let entries = match Door::ours(root).list(&runs(root)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        entries => entries?,
    };
    let folders = entries.into_iter().filter(|entry| entry.is_dir);
    let names = folders.filter_map(|entry| entry.name.into_string().ok());
    let mut ids: Vec<String> = names.filter(|name| names::is_run_id(name)).collect();
    ids.reverse();
    Ok(ids)
}

/// Keeps a directory of ours out of git, unless somebody has decided otherwise.
pub fn ignore(door: &Door, dir: &Path) -> io::Result<()> {
    let path = dir.join(".gitignore");
    match door.lstat(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => door.replace(&path, b"*\n"),
        there => there.map(drop),
    }
}

//! The directory of a run: `.claude/state/runs/RUN_ID/`.

use super::beneath::Door;
use super::disk;
use super::names::{self, NotARunId};
use std::io;
use std::path::{Path, PathBuf};

/// Size limit of a copy of a declaration, in bytes; larger than what the checker accepts.
const MAX_DECLARATION: u64 = 2 << 20;
/// Limit of declaration copies per run.
const MAX_COPIES: usize = 1000;

/// The folder of a project's runs.
pub fn runs(root: &Path) -> PathBuf {
    root.join(".claude/state/runs")
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunDir {
    root: PathBuf,
    run_id: String,
    path: PathBuf,
}

impl RunDir {
    /// The run need not exist. Fails if the text is not a run id.
    pub fn of(root: &Path, run_id: &str) -> Result<Self, NotARunId> {
        if !names::is_run_id(run_id) {
            return Err(NotARunId::new(run_id));
        }
        let path = runs(root).join(run_id);
        Ok(Self { root: root.to_owned(), run_id: run_id.to_owned(), path })
    }

    /// Creates the directory of a new run, and keeps the project's state out of git.
    pub fn create(root: &Path, run_id: &str) -> io::Result<Self> {
        let dir = Self::of(root, run_id).map_err(io::Error::other)?;
        disk::pass(disk::Op::Write, &dir.path)?;
        let (door, state) = (dir.door(), root.join(".claude/state"));
        door.create_dirs(&state)?;
        ignore(&door, &state)?;
        door.create_dirs(&dir.path)?;
        Ok(dir)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    pub fn door(&self) -> Door {
        Door::ours(&self.root)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn journal(&self) -> PathBuf {
        self.path.join("journal.jsonl")
    }

    /// Saves a copy of the declaration and returns its name. An identical copy is reused.
    pub fn keep_declaration(&self, bytes: &[u8]) -> io::Result<String> {
        let door = self.door();
        for n in 1..=MAX_COPIES {
            let name = format!("declaration-{n}.yaml");
            let path = self.path.join(&name);
            match door.read(&path, MAX_DECLARATION) {
                Ok(there) if there == bytes => return Ok(name),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    door.replace(&path, bytes)?;
                    return Ok(name);
                }
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other(format!(
            "\"{}\" already has {MAX_COPIES} declaration copies",
            self.path.display()
        )))
    }

    /// A saved copy of the declaration.
    pub fn declaration(&self, name: &str) -> io::Result<Vec<u8>> {
        let path = self.path.join(Path::new(name).file_name().unwrap_or_default());
        self.door().read(&path, MAX_DECLARATION)
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

/// The ids of all runs, newest first, or the error that prevents listing them.
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

/// Keeps one of our directories out of git, unless it already has a `.gitignore`.
pub fn ignore(door: &Door, dir: &Path) -> io::Result<()> {
    let path = dir.join(".gitignore");
    match door.lstat(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => door.replace(&path, b"*\n"),
        there => there.map(drop),
    }
}

//! `.claude/logs/superpower.log`: one line an event, bounded.

use super::disk::{Op, pass};
use super::rundir;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Where it is.
pub fn path(root: &Path) -> PathBuf {
    root.join(".claude/logs/superpower.log")
}

/// The log of a project.
#[derive(Debug)]
pub struct Log {
    root: PathBuf,
    max: u64,
    file: Option<File>,
}

impl Log {
    /// One that grows to `max` bytes before it becomes `superpower.log.1`, in the place of the one before. Nothing is
    /// made before the first line.
    pub fn new(root: &Path, max: u64) -> Self {
        Self { root: root.to_owned(), max, file: None }
    }

    /// Adds a line.
    pub fn append(&mut self, line: &str) -> io::Result<()> {
        let path = path(&self.root);
        pass(Op::Write, &path)?;
        // Another editor may have turned it over, and anybody may have removed it.
        let there = fs::symlink_metadata(&path).ok();
        let ours = self.file.as_ref().and_then(|file| file.metadata().ok());
        let same = ours.zip(there).is_some_and(|(ours, there)| {
            (ours.dev(), ours.ino()) == (there.dev(), there.ino()) && there.len() <= self.max
        });
        if !same {
            self.file = Some(self.open(&path)?);
        }
        // One write a line, so that lines of two editors do not mix.
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(format!("{line}\n").as_bytes()))
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        let dir = self.root.join(".claude/logs");
        rundir::inside(&self.root, &dir)?;
        rundir::ignore(&dir)?;
        let open = || rundir::open(OpenOptions::new().create(true).append(true), path);
        let file = open()?;
        if file.metadata()?.len() <= self.max {
            return Ok(file);
        }
        fs::rename(path, path.with_extension("log.1"))?;
        open()
    }
}

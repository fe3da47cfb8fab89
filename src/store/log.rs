//! `.claude/logs/superpower.log`: one line per event, with a size limit.

use super::beneath::Door;
use super::disk::{Op, pass};
use super::rundir;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

pub fn path(root: &Path) -> PathBuf {
    root.join(".claude/logs/superpower.log")
}

/// The log of a project.
#[derive(Debug)]
pub struct Log {
    door: Door,
    path: PathBuf,
    max: u64,
    file: Option<File>,
}

impl Log {
    /// Above `max` bytes the file becomes `superpower.log.1`, replacing the previous one. Nothing is created before
    /// the first line.
    pub fn new(root: &Path, max: u64) -> Self {
        Self { door: Door::ours(root), path: path(root), max, file: None }
    }

    pub fn append(&mut self, line: &str) -> io::Result<()> {
        pass(Op::Write, &self.path)?;
        // Another editor may have rotated the file, or someone removed it.
        let there = self.door.lstat(&self.path).ok();
        let ours = self.file.as_ref().and_then(|file| file.metadata().ok());
        let same = ours
            .zip(there)
            .is_some_and(|(ours, there)| (ours.dev(), ours.ino()) == there.file && there.len <= self.max);
        if !same {
            self.file = Some(self.open()?);
        }
        // One write per line, so that the lines of two editors do not mix.
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(format!("{line}\n").as_bytes()))
    }

    fn open(&self) -> io::Result<File> {
        let dir = self.path.parent().unwrap_or(&self.path);
        self.door.create_dirs(dir)?;
        rundir::ignore(&self.door, dir)?;
        let file = self.door.append(&self.path)?;
        if file.metadata()?.len() <= self.max {
            return Ok(file);
        }
        self.door.rename(&self.path, &self.path.with_extension("log.1"))?;
        self.door.append(&self.path)
    }
}

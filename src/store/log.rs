//! `.claude/logs/superpower.log`: one line an event, bounded.

use super::disk::{Op, pass};
use super::rundir;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where it is.
pub fn path(root: &Path) -> PathBuf {
    root.join(".claude/logs/superpower.log")
}

/// Adds a line. A log that has grown beyond `max` bytes becomes `superpower.log.1`, in the place of the one before.
pub fn append(root: &Path, line: &str, max: u64) -> io::Result<()> {
    let path = path(root);
    pass(Op::Write, &path)?;
    let dir = root.join(".claude/logs");
    rundir::inside(root, &dir)?;
    rundir::ignore(&dir)?;
    let open = || rundir::open(OpenOptions::new().create(true).append(true), &path);
    let mut file = open()?;
    if file.metadata()?.len() > max {
        fs::rename(&path, path.with_extension("log.1"))?;
        file = open()?;
    }
    // One write a line, so that lines of two editors do not mix.
    file.write_all(format!("{line}\n").as_bytes())
}

//! Atomic reads and writes of the plugin's own files in a project, through the door of that project.

use super::beneath::Door;
use chrono::{DateTime, Utc};
use std::io;
use std::path::{Path, PathBuf};

/// Size limit of our files that are read whole, in bytes.
pub const MAX_BYTES: u64 = 4 << 20;

/// The door for a path in a project's `.claude`.
fn door(path: &Path) -> Door {
    let claude = path.ancestors().find(|dir| dir.ends_with(".claude")).and_then(Path::parent);
    Door::ours(claude.or(path.parent()).unwrap_or(path))
}

/// Replaces a file without flushing it to the disk, because projections can be rebuilt from the journal.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    door(path).replace(path, bytes)
}

/// Reads a file as text, without its byte-order mark.
pub fn read(path: &Path) -> io::Result<String> {
    door(path).read_text(path, MAX_BYTES)
}

/// Renames an unreadable file out of the way and returns its new path.
pub fn set_aside(path: &Path, now: DateTime<Utc>) -> io::Result<PathBuf> {
    rename(path, aside(path, now))
}

/// Renames a file out of the way that can be read but is not wanted any more, and returns its new path.
pub fn file_away(path: &Path, now: DateTime<Utc>) -> io::Result<PathBuf> {
    rename(path, beside(path, "cancelled", now))
}

/// The path that [`set_aside`] renames a file to.
pub fn aside(path: &Path, now: DateTime<Utc>) -> PathBuf {
    beside(path, "corrupt", now)
}

fn rename(from: &Path, to: PathBuf) -> io::Result<PathBuf> {
    door(from).rename(from, &to)?;
    Ok(to)
}

fn beside(path: &Path, word: &str, now: DateTime<Utc>) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{word}-{}", now.format("%Y%m%dT%H%M%S%3f")));
    PathBuf::from(name)
}

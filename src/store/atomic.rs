//! Files of ours in a project, whole or not at all, by the door of the project that they lie in.

use super::beneath::Door;
use chrono::{DateTime, Utc};
use std::io;
use std::path::{Path, PathBuf};

/// Bytes of a file of ours that is read as a whole.
pub const LARGEST: u64 = 4 << 20;

/// The door to a path in a project's `.claude`.
fn door(path: &Path) -> Door {
    let claude = path.ancestors().find(|dir| dir.ends_with(".claude")).and_then(Path::parent);
    Door::ours(claude.or(path.parent()).unwrap_or(path))
}

/// Replaces a file by `bytes`, without a flush: for projections, which can be rebuilt from the journal.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    door(path).replace(path, bytes)
}

/// Reads a file as text, a byte-order mark dropped.
pub fn read(path: &Path) -> io::Result<String> {
    door(path).read_text(path, LARGEST)
}

/// Moves a file that cannot be understood out of the way, and says where to.
pub fn set_aside(path: &Path, now: DateTime<Utc>) -> io::Result<PathBuf> {
    let aside = aside(path, now);
    door(path).rename(path, &aside)?;
    Ok(aside)
}

/// Where a file that cannot be understood is kept.
pub fn aside(path: &Path, now: DateTime<Utc>) -> PathBuf {
    let mut aside = path.as_os_str().to_owned();
    aside.push(format!(".corrupt-{}", now.format("%Y%m%dT%H%M%S%3f")));
    PathBuf::from(aside)
}

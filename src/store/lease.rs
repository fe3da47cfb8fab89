//! The lease of a project: an OS file lock that is held only while a run is driven, so that a crash releases it.

use super::beneath::Door;
use super::disk::{Op, pass};
use super::names;
use serde::{Deserialize, Serialize};
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The driver, as it describes itself in the lock file for other editors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Of the editor.
    pub pid: u32,
    pub run_id: String,
    pub superpower: String,
    /// Milliseconds since the epoch.
    pub since: i64,
}

/// The lock, while we hold it.
#[derive(Debug)]
pub struct Lease {
    file: File,
}

/// The result of trying to take the lock.
#[derive(Debug)]
pub enum Taken {
    Ours(Lease),
    /// Another process drives; its description, if the file has one.
    Elsewhere(Option<Holder>),
}

/// Attempts at the lock.
const TRIES: u32 = 5;
/// The longest time that [`holder`] holds the lock.
const PROBE_TIME: Duration = Duration::from_millis(2);

/// Size limit of a description, in bytes.
const MAX_BYTES: u64 = 4096;

/// The lock file of a project.
pub fn path(root: &Path) -> PathBuf {
    root.join(".claude/state/drive.lock")
}

/// Takes the lock without waiting for another driver. It retries a few times, because [`holder`] takes the lock for a
/// moment.
pub fn take(root: &Path) -> io::Result<Taken> {
    let path = path(root);
    pass(Op::Write, &path)?;
    let door = Door::ours(root);
    door.create_dirs(&root.join(".claude/state"))?;
    let mut file = door.open_or_create(&path)?;
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => {
                // The previous driver's description must not pass for ours.
                let _ = file.set_len(0);
                return Ok(Taken::Ours(Lease { file }));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(PROBE_TIME),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(Taken::Elsewhere(read_holder(&mut file)))
}

/// The driver of this project: `None` if there is none, `Some(None)` if it does not describe itself. Tests the lock,
/// because the file's text may be stale.
pub fn holder(root: &Path) -> Option<Option<Holder>> {
    let mut file = Door::ours(root).open(&path(root)).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Some(read_holder(&mut file)),
        _ => {
            let _ = file.unlock();
            None
        }
    }
}

/// Whether the driver, as returned by [`holder`], drives this run. A driver that does not describe itself may.
pub fn drives(driver: Option<&Option<Holder>>, run_id: &str) -> bool {
    driver.is_some_and(|holder| holder.as_ref().is_none_or(|holder| holder.run_id == run_id))
}

impl Lease {
    /// Whether the lock file is still at its path. A lock on a removed file excludes nobody.
    pub fn holds(&self, root: &Path) -> bool {
        let there = Door::ours(root).lstat(&path(root));
        self.file.metadata().is_ok_and(|ours| there.is_ok_and(|there| there.file == (ours.dev(), ours.ino())))
    }

    /// Writes our description for other editors.
    pub fn sign(&mut self, holder: &Holder) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&serde_json::to_vec(holder)?)
    }
}

impl Drop for Lease {
    /// Closing the file is not enough: a child process that another thread is starting has a copy of it until its
    /// `exec`.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

/// The description in the file; `None` if it is missing or has invalid names.
fn read_holder(file: &mut File) -> Option<Holder> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0)).ok()?;
    file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    let holder: Holder = serde_json::from_str(&text).ok()?;
    (names::is_run_id(&holder.run_id) && names::is_superpower(&holder.superpower)).then_some(holder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropping_the_lease_frees_the_lock_despite_a_copy_of_its_file() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let Taken::Ours(lease) = take(&root).unwrap() else { panic!("not free") };
        let _copy = lease.file.try_clone().unwrap();
        assert!(matches!(take(&root).unwrap(), Taken::Elsewhere(_)));
        drop(lease);
        assert_eq!(holder(&root), None);
        assert!(matches!(take(&root).unwrap(), Taken::Ours(_)));
    }
}

//! The drive lock: an OS file lock, held only while driving, so that a crash frees it.

use super::beneath::Door;
use super::disk::{Op, pass};
use super::names;
use serde::{Deserialize, Serialize};
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Who drives, as written in the lock file for other editors to show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The editor's process id.
    pub pid: u32,
    /// The run that it drives.
    pub run_id: String,
    /// The superpower.
    pub superpower: String,
    /// Since when, in milliseconds since the epoch.
    pub since: i64,
}

/// The lock, while it is held.
#[derive(Debug)]
pub struct Lease {
    file: File,
}

/// What trying to take the lock came to.
#[derive(Debug)]
pub enum Taken {
    /// It is ours.
    Ours(Lease),
    /// Somebody else drives; who, where the file says so.
    Elsewhere(Option<Holder>),
}

/// How often the lock is tried for.
const TRIES: u32 = 5;
/// How long somebody who only looks may hold it.
const GLANCE: Duration = Duration::from_millis(2);

/// Bytes of what a holder writes.
const LARGEST: u64 = 4096;

/// Where a project's drive lock is.
pub fn path(root: &Path) -> PathBuf {
    root.join(".claude/state/drive.lock")
}

/// Takes the lock. It is not waited for, but for those who only look whether it is taken: they hold it for an instant.
pub fn take(root: &Path) -> io::Result<Taken> {
    let path = path(root);
    pass(Op::Write, &path)?;
    let door = Door::ours(root);
    door.create_dirs(&root.join(".claude/state"))?;
    let mut file = door.open_or_create(&path)?;
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => {
                // What the one before has signed is not taken for us.
                let _ = file.set_len(0);
                return Ok(Taken::Ours(Lease { file }));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(GLANCE),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(Taken::Elsewhere(read_holder(&mut file)))
}

/// Who drives this project: nobody, somebody, or somebody who says who it is. Asks the lock, which alone can tell.
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

/// Whether this is the run that is driven, by what [`holder`] says. A driver that does not say what it drives may well
/// drive it.
pub fn drives(driver: Option<&Option<Holder>>, run_id: &str) -> bool {
    driver.is_some_and(|holder| holder.as_ref().is_none_or(|holder| holder.run_id == run_id))
}

impl Lease {
    /// Whether the lock is still where others look for it. One whose file was removed keeps nobody out.
    pub fn holds(&self, root: &Path) -> bool {
        let there = Door::ours(root).lstat(&path(root));
        self.file.metadata().is_ok_and(|ours| there.is_ok_and(|there| there.file == (ours.dev(), ours.ino())))
    }

    /// Writes who we are, for others to show.
    pub fn sign(&mut self, holder: &Holder) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&serde_json::to_vec(holder)?)
    }
}

impl Drop for Lease {
    /// To close the file is not enough: a process that another thread is just starting has a copy of it until it has
    /// begun with its own program.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

/// Who the file says that drives; nobody in particular where it holds no names.
fn read_holder(file: &mut File) -> Option<Holder> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0)).ok()?;
    file.take(LARGEST).read_to_string(&mut text).ok()?;
    let holder: Holder = serde_json::from_str(&text).ok()?;
    (names::is_run_id(&holder.run_id) && names::is_superpower(&holder.superpower)).then_some(holder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_is_free_as_soon_as_it_is_given_back_whoever_has_a_copy_of_its_file() {
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

//! The lock of a track: the directory `.metadata.lock`, as the protocol's shell scripts create it.
//!
//! Scripts create an empty directory. Ours contains its owner's record from the start: it is prepared under another
//! name and renamed into place without replacing anything. So we recognise the lock of a process that died, and one
//! process at a time breaks it. The lock of a live owner is never broken, however old it is. An empty lock does not
//! name its holder: we wait for it, and tell the user after a minute.

use super::owner::{Life, Owner, RECORD};
use crate::store::beneath::{Door, Kind};
use rustix::io::Errno;
use std::fs::TryLockError;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};
use thiserror::Error;

/// The lock's name in a track's directory.
pub const LOCK: &str = ".metadata.lock";

/// After this time with the same empty lock, the user is told.
const ABANDONED_AFTER: Duration = Duration::from_secs(60);

/// Why the lock could not be taken.
#[derive(Debug, Error)]
pub enum LockError {
    #[error("\"{}\" has been held by {holder} for {age}", .lock.display(), age = in_words(*.age))]
    Held {
        lock: PathBuf,
        /// For messages.
        holder: String,
        age: Duration,
    },
    /// The holder has had it for a minute, and we cannot find out whether it still runs.
    #[error(
        "\"{}\" has been held by {holder} for {age}; if that no longer runs, remove the lock with: rm -r {}",
        .lock.display(), quoted(.lock), age = in_words(*.age)
    )]
    Abandoned {
        lock: PathBuf,
        /// For messages.
        holder: String,
        age: Duration,
    },
    #[error("cannot create \"{}\": {error}", .lock.display())]
    Io { lock: PathBuf, error: io::Error },
}

/// Identifies the directory: a script that takes the lock again creates a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    inode: u64,
    modified: Option<SystemTime>,
}

/// How long we have waited for the same directory, over any number of attempts.
#[derive(Debug, Default)]
pub struct Patience(Option<(Identity, Instant)>);

/// A lock of a dead owner that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The dead owner.
    pub pid: u32,
}

/// The lock of a track, before it is taken.
#[derive(Debug)]
pub struct Lock {
    door: Door,
    dir: PathBuf,
    path: PathBuf,
    plain: AtomicBool,
}

/// The lock, held until this is dropped.
#[derive(Debug)]
pub struct Held {
    door: Door,
    path: PathBuf,
    owner: Owner,
    /// The lock of a dead owner, if one was broken for this.
    pub broken: Option<Broken>,
}

impl Lock {
    /// The lock of the track in `dir`, which must exist.
    pub fn of(dir: &Path) -> Self {
        Self::behind(Door::ours(dir), dir)
    }

    /// The lock of a directory that is reached through `door`.
    pub fn behind(door: Door, dir: &Path) -> Self {
        Self { door, dir: dir.to_owned(), path: dir.join(LOCK), plain: AtomicBool::new(false) }
    }

    /// Behaves as if the file system had no renaming without replacing. For tests.
    #[doc(hidden)]
    #[must_use]
    pub fn without_exclusive_rename(self) -> Self {
        self.plain.store(true, Ordering::Relaxed);
        self
    }

    /// Takes the lock; waits for at most `wait`.
    pub fn take(&self, wait: Duration, patience: &mut Patience) -> Result<Held, LockError> {
        let begun = Instant::now();
        let mut broken = None;
        loop {
            let Some(holder) = self.holder() else {
                let owner = Owner::this();
                match self.try_take(&owner) {
                    Ok(true) => {
                        *patience = Patience(None);
                        let (door, path) = (self.door.clone(), self.path.clone());
                        return Ok(Held { door, path, owner, broken });
                    }
                    Ok(false) => {}
                    Err(error) => return Err(LockError::Io { lock: self.path.clone(), error }),
                }
                if begun.elapsed() >= wait {
                    // The lock was taken and released again in between.
                    let holder =
                        self.holder().map_or_else(|| "another process".to_owned(), |holder| holder.words());
                    return Err(LockError::Held { lock: self.path.clone(), holder, age: Duration::ZERO });
                }
                continue;
            };
            if let Holder { owner: Some(owner), life: Life::Dead, .. } = &holder
                && self.break_dead(owner)
            {
                broken = Some(Broken { pid: owner.process.pid });
                continue;
            }
            let age = patience.age(holder.identity);
            let alive = holder.life == Life::Alive;
            if begun.elapsed() >= wait {
                let (lock, holder) = (self.path.clone(), holder.words());
                return Err(if age >= ABANDONED_AFTER && !alive {
                    LockError::Abandoned { lock, holder, age }
                } else {
                    LockError::Held { lock, holder, age }
                });
            }
            std::thread::sleep(pause());
        }
    }

    /// The current holder.
    fn holder(&self) -> Option<Holder> {
        let meta = self.door.lstat(&self.path).ok()?;
        let (seconds, nanos) = (u64::try_from(meta.modified.0), u32::try_from(meta.modified.1));
        let since = seconds.ok().zip(nanos.ok()).map(|(seconds, nanos)| Duration::new(seconds, nanos));
        let modified = since.map(|since| SystemTime::UNIX_EPOCH + since);
        let identity = Identity { inode: meta.file.1, modified };
        let is_dir = meta.kind == Kind::Dir;
        let owner = if is_dir { Owner::read_by(&self.door, &self.path) } else { None };
        let life = owner.as_ref().map_or(Life::Unknown, Owner::life);
        Some(Holder { identity, owner, life })
    }

    /// Takes the lock if it is free now.
    fn try_take(&self, owner: &Owner) -> io::Result<bool> {
        let prepared = self.dir.join(temporary_name("new", owner));
        self.door.create_dir(&prepared)?;
        let taken = self.put(&prepared, owner);
        if !matches!(taken, Ok(true)) {
            let _ = self.door.remove_file(&prepared.join(RECORD));
            let _ = self.door.remove_dir(&prepared);
        }
        taken
    }

    fn put(&self, prepared: &Path, owner: &Owner) -> io::Result<bool> {
        self.door.create_new(&prepared.join(RECORD))?.write_all(&serde_json::to_vec(owner)?)?;
        if !self.plain.load(Ordering::Relaxed) {
            // A plain rename would replace an empty directory, which may be a script's lock.
            match self.door.rename_new(prepared, &self.path) {
                Ok(()) => return Ok(true),
                Err(error) => match Errno::from_io_error(&error) {
                    Some(Errno::EXIST | Errno::NOTEMPTY) => return Ok(false),
                    // Not supported by the system or the file system.
                    Some(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                        self.plain.store(true, Ordering::Relaxed);
                    }
                    _ => return Err(error),
                },
            }
        }
        // `mkdir` excludes other processes. After that, our own empty directory can be replaced by the prepared one.
        match self.door.create_dir(&self.path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
            made => made?,
        }
        self.door.rename(prepared, &self.path).inspect_err(|_| {
            let _ = self.door.remove_dir(&self.path);
        })?;
        Ok(true)
    }

    /// Breaks the lock of a dead owner; returns false if another process is doing so, or has done so.
    fn break_dead(&self, dead: &Owner) -> bool {
        let Ok(track) = self.door.open_dir(&self.dir) else { return false };
        // The kernel releases this lock if the breaker dies too. On file systems that cannot lock a directory, the
        // check of the moved lock below has to suffice.
        if let Err(TryLockError::WouldBlock) = track.try_lock() {
            return false;
        }
        if Owner::read_by(&self.door, &self.path).as_ref() != Some(dead) {
            return false;
        }
        let away = self.dir.join(temporary_name("dead", &Owner::this()));
        if self.door.rename(&self.path, &away).is_err() {
            return false;
        }
        if Owner::read_by(&self.door, &away).as_ref() != Some(dead) {
            let _ = self.door.rename_new(&away, &self.path);
            return false;
        }
        let _ = self.door.remove_tree(&away);
        true
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // A user may have removed it; what is there now then belongs to another process.
        if Owner::read_by(&self.door, &self.path).as_ref() != Some(&self.owner) {
            return;
        }
        let away = self.path.with_file_name(temporary_name("old", &self.owner));
        if self.door.rename(&self.path, &away).is_ok() {
            let _ = self.door.remove_file(&away.join(RECORD));
            let _ = self.door.remove_dir(&away);
        }
    }
}

struct Holder {
    identity: Identity,
    owner: Option<Owner>,
    life: Life,
}

impl Holder {
    fn words(&self) -> String {
        match &self.owner {
            None => "an unnamed script".to_owned(),
            Some(owner) if self.life == Life::Unknown => {
                format!("process {} on \"{}\"", owner.process.pid, owner.host())
            }
            Some(owner) if owner.process.pid == std::process::id() => "this editor".to_owned(),
            Some(owner) => format!("process {}", owner.process.pid),
        }
    }
}

impl Patience {
    /// The age of this lock: since we first saw it, or by its modification time, whichever is longer.
    fn age(&mut self, identity: Identity) -> Duration {
        let stands = identity.modified.and_then(|since| since.elapsed().ok()).unwrap_or_default();
        match self.0 {
            Some((same, since)) if same == identity => since.elapsed().max(stands),
            _ => {
                self.0 = Some((identity, Instant::now()));
                stands
            }
        }
    }

    /// Adds to the time waited. For tests.
    #[doc(hidden)]
    pub fn grow(&mut self, by: Duration) {
        if let Some((_, since)) = &mut self.0 {
            *since = since.checked_sub(by).unwrap_or(*since);
        }
    }
}

/// Removes what dead processes have left beside the lock.
pub fn sweep(door: &Door, dir: &Path) {
    for entry in door.list(dir).unwrap_or_default() {
        let (name, path) = (&entry.name, dir.join(&entry.name));
        let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(".metadata.lock.")) else {
            continue;
        };
        let mut parts = rest.split('-').skip(1).map(str::parse::<u64>);
        let (Some(Ok(pid)), Some(Ok(start_time))) = (parts.next(), parts.next()) else { continue };
        let mut owner = Owner::this();
        owner.process.pid = u32::try_from(pid).unwrap_or(0);
        owner.process.start_time = start_time;
        // The record is more reliable than the name, since it may come from another container.
        let life = Owner::read_by(door, &path).map_or_else(|| owner.life(), |owner| owner.life());
        if life == Life::Dead {
            let _ = if entry.is_dir { door.remove_tree(&path) } else { door.remove_file(&path) };
        }
    }
}

/// A temporary name beside the lock, unique among processes and locks.
pub fn temporary_name(what: &str, owner: &Owner) -> String {
    format!("{LOCK}.{what}-{}-{}-{}", owner.process.pid, owner.process.start_time, owner.serial)
}

/// 5 to 20 ms at random, so that waiting processes do not retry in step.
fn pause() -> Duration {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Duration::from_millis(5 + u64::from(now.subsec_micros()) % 16)
}

/// Quotes a path for a shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}

fn in_words(age: Duration) -> String {
    let seconds = age.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, seconds) => format!("{minutes}m {seconds}s"),
        (hours, minutes, _) => format!("{hours}h {minutes}m"),
    }
}

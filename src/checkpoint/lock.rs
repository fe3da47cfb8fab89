//! The lock of a track: the directory `.metadata.lock`, as the protocol's shell scripts make it.
//!
//! Scripts hold a bare directory; ours holds its owner's record, from the first instant: it is prepared beside and
//! renamed into place without replacing. So the lock of a process that died is known as such, and broken at once, by
//! one breaker at a time; a live owner's never is, however old. A bare one tells nothing of its holder: it is waited
//! for, and after a minute of one and the same directory a human is told.

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

/// After this long of one and the same directory a human is told.
const ABANDONED: Duration = Duration::from_secs(60);

/// Why the lock was not to be had.
#[derive(Debug, Error)]
pub enum LockError {
    /// Somebody holds it.
    #[error("\"{}\" is held by {holder}, for {age}", .lock.display(), age = in_words(*.age))]
    Held {
        /// The lock.
        lock: PathBuf,
        /// Who holds it, in words.
        holder: String,
        /// For how long.
        age: Duration,
    },
    /// Somebody who cannot be told dead from alive has held it for a minute.
    #[error(
        "\"{}\" is held by {holder}, for {age}: if nothing of it runs any more, remove it with: rm -r {}",
        .lock.display(), quoted(.lock), age = in_words(*.age)
    )]
    Abandoned {
        /// The lock.
        lock: PathBuf,
        /// Who holds it, in words.
        holder: String,
        /// For how long.
        age: Duration,
    },
    /// The file system refuses.
    #[error("\"{}\" cannot be made: {error}", .lock.display())]
    Io {
        /// The lock.
        lock: PathBuf,
        /// What it says.
        error: io::Error,
    },
}

/// One and the same directory: a script that takes the lock again makes a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    inode: u64,
    modified: Option<SystemTime>,
}

/// How long one has waited for one and the same directory, over any number of tries.
#[derive(Debug, Default)]
pub struct Patience(Option<(Identity, Instant)>);

/// A dead owner's lock that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The process that died with it.
    pub pid: u32,
}

/// A track's lock, to take.
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
    /// A dead owner's lock, broken on the way.
    pub broken: Option<Broken>,
}

impl Lock {
    /// The lock of the track in `dir`, which exists.
    pub fn of(dir: &Path) -> Self {
        Self::behind(Door::ours(dir), dir)
    }

    /// The same by a door that the directory lies behind.
    pub fn behind(door: Door, dir: &Path) -> Self {
        Self { door, dir: dir.to_owned(), path: dir.join(LOCK), plain: AtomicBool::new(false) }
    }

    /// As if the file system had no renaming without replacing.
    #[doc(hidden)]
    #[must_use]
    pub fn without_exclusive_rename(self) -> Self {
        self.plain.store(true, Ordering::Relaxed);
        self
    }

    /// Takes it, waiting at most for `wait`.
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
                    // Lost a race just now.
                    let holder =
                        self.holder().map_or_else(|| "somebody else".to_owned(), |holder| holder.words());
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
                return Err(if age >= ABANDONED && !alive {
                    LockError::Abandoned { lock, holder, age }
                } else {
                    LockError::Held { lock, holder, age }
                });
            }
            std::thread::sleep(pause());
        }
    }

    /// Who holds it now.
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

    /// Takes it if it is free at this instant.
    fn try_take(&self, owner: &Owner) -> io::Result<bool> {
        let prepared = self.dir.join(litter_name("new", owner));
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
            // Plain renaming would replace an empty directory, which is a script's lock.
            match self.door.rename_new(prepared, &self.path) {
                Ok(()) => return Ok(true),
                Err(error) => match Errno::from_io_error(&error) {
                    Some(Errno::EXIST | Errno::NOTEMPTY) => return Ok(false),
                    // The system or the file system cannot do it.
                    Some(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                        self.plain.store(true, Ordering::Relaxed);
                    }
                    _ => return Err(error),
                },
            }
        }
        // `mkdir` excludes everybody; our own empty directory may then be replaced by the prepared one.
        match self.door.create_dir(&self.path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
            made => made?,
        }
        self.door.rename(prepared, &self.path).inspect_err(|_| {
            let _ = self.door.remove_dir(&self.path);
        })?;
        Ok(true)
    }

    /// Breaks a dead owner's lock; false where somebody else does, or has.
    fn break_dead(&self, dead: &Owner) -> bool {
        let Ok(track) = self.door.open_dir(&self.dir) else { return false };
        // Freed by the kernel, should the breaker die too. Some file systems cannot lock a directory; then what was
        // moved away is looked at again.
        if let Err(TryLockError::WouldBlock) = track.try_lock() {
            return false;
        }
        if Owner::read_by(&self.door, &self.path).as_ref() != Some(dead) {
            return false;
        }
        let away = self.dir.join(litter_name("dead", &Owner::this()));
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
        // A human may have taken it away; then whatever stands there now is somebody else's.
        if Owner::read_by(&self.door, &self.path).as_ref() != Some(&self.owner) {
            return;
        }
        let away = self.path.with_file_name(litter_name("old", &self.owner));
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
            None => "a script that left no name".to_owned(),
            Some(owner) if self.life == Life::Unknown => {
                format!("process {} of \"{}\"", owner.process.pid, owner.host())
            }
            Some(owner) if owner.process.pid == std::process::id() => "this editor".to_owned(),
            Some(owner) => format!("process {}", owner.process.pid),
        }
    }
}

impl Patience {
    /// How long this one has stood there: as we saw it, or as its time tells, which counts from before this process too.
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

    /// As if it had been waited for so much longer.
    #[doc(hidden)]
    pub fn grow(&mut self, by: Duration) {
        if let Some((_, since)) = &mut self.0 {
            *since = since.checked_sub(by).unwrap_or(*since);
        }
    }
}

/// Removes what processes that died have left beside the lock.
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
        // A record says more than the name: it may come from another container.
        let life = Owner::read_by(door, &path).map_or_else(|| owner.life(), |owner| owner.life());
        if life == Life::Dead {
            let _ = if entry.is_dir { door.remove_tree(&path) } else { door.remove_file(&path) };
        }
    }
}

/// A name beside the lock that no other process and no other lock of this one uses.
pub fn litter_name(what: &str, owner: &Owner) -> String {
    format!("{LOCK}.{what}-{}-{}-{}", owner.process.pid, owner.process.start_time, owner.serial)
}

/// 5 to 20 ms, so that those who wait do not march in step.
fn pause() -> Duration {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Duration::from_millis(5 + u64::from(now.subsec_micros()) % 16)
}

/// A path for a shell.
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

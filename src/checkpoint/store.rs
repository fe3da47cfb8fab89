//! The document on disk: read, changed and written under the lock, never half, and never over what cannot be read.

use super::lock::{Broken, Lock, LockError, Patience, litter_name, sweep};
use super::owner::Owner;
use super::place::{DOCUMENT, Place};
use super::record::{Record, Unreadable};
use super::status::stamp;
use chrono::{DateTime, Utc};
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// An agent that writes in place may be in the middle of it; so long it is waited for before a document counts as
/// unreadable.
const HALF_WRITTEN: Duration = Duration::from_millis(500);
/// Somebody without the lock may write while we do; so often we begin anew.
const AGAIN: usize = 20;

/// Why the document was not written.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The lock was not to be had.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The file system refuses.
    #[error("\"{}\" cannot be {what}: {error}", .path.display())]
    Io {
        /// What was done: `read`, `written`.
        what: &'static str,
        /// To which file.
        path: PathBuf,
        /// What it says.
        error: io::Error,
    },
}

/// A document that could not be read, and was moved aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aside {
    /// Where it is now.
    pub path: PathBuf,
    /// What was wrong with it.
    pub why: Unreadable,
}

/// What writing brought to light.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// An unreadable document, moved aside.
    pub aside: Option<Aside>,
    /// A dead owner's lock, broken.
    pub broken: Option<Broken>,
}

/// What tells one state of a file from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp(u64, u64, i64, i64);

impl Stamp {
    fn of(meta: &Metadata) -> Self {
        Self(meta.ino(), meta.size(), meta.mtime(), meta.mtime_nsec())
    }

    /// The stamp of the file at `path`; none where there is none.
    pub fn at(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().as_ref().map(Self::of)
    }
}

/// The document at `place` as it is, without the lock; none where there is none, or none that can be read at this
/// instant.
pub fn read(place: &Place) -> Option<Record> {
    Record::parse(&fs::read_to_string(place.document()).ok()?).ok()
}

/// The document of one place.
#[derive(Debug)]
pub struct Store {
    place: Place,
    lock: Lock,
    patience: Patience,
    swept: bool,
    /// The document as it was read or written last.
    known: Option<(Stamp, Arc<Record>)>,
}

impl Store {
    /// The document at `place`.
    pub fn new(place: Place) -> Self {
        let lock = Lock::of(place.dir());
        Self { place, lock, patience: Patience::default(), swept: false, known: None }
    }

    /// Where it is.
    pub const fn place(&self) -> &Place {
        &self.place
    }

    /// The document as it is, without the lock.
    pub fn read(&self) -> Option<Record> {
        read(&self.place)
    }

    /// The same, not read again where it is still what it was.
    pub fn known(&mut self) -> Option<Arc<Record>> {
        let stamp = Stamp::at(&self.place.document())?;
        if let Some((_, known)) = self.known.as_ref().filter(|(known, _)| *known == stamp) {
            return Some(known.clone());
        }
        let record = Arc::new(self.read()?);
        self.known = Some((stamp, record.clone()));
        Some(record)
    }

    /// Reads the document, has `change` change it, and writes it, all under the lock, for which it waits at most for
    /// `wait`. `change` is told whether the document is new, and may be called again.
    pub fn update(
        &mut self,
        now: DateTime<Utc>,
        wait: Duration,
        mut change: impl FnMut(&mut Record, bool),
    ) -> Result<Found, StoreError> {
        self.place.make().map_err(|error| failed("made", self.place.dir(), error))?;
        if !self.swept {
            sweep(self.place.dir());
            self.swept = true;
        }
        let held = self.lock.take(wait, &mut self.patience)?;
        let mut found = Found { aside: None, broken: held.broken.clone() };
        let path = self.place.document();
        for _ in 0..AGAIN {
            let (before, text, stamp) = match self.read_whole(&path)? {
                Ok(there) => there,
                Err(why) => {
                    found.aside = Some(self.move_aside(&path, why, now)?);
                    continue;
                }
            };
            let mut record = before.clone().unwrap_or_else(|| Record::minimal(self.place.track(), now));
            change(&mut record, before.is_none());
            if before.as_ref() == Some(&record) && record.text() == text {
                return Ok(found);
            }
            if self.write(&path, &record, stamp)? {
                return Ok(found);
            }
        }
        let busy = io::Error::new(ErrorKind::ResourceBusy, "it is being rewritten all the time");
        Err(failed("written", &path, busy))
    }

    /// The document, its text and its stamp; an unreadable one is read again for a while.
    #[allow(clippy::type_complexity)]
    fn read_whole(
        &self,
        path: &Path,
    ) -> Result<Result<(Option<Record>, String, Option<Stamp>), Unreadable>, StoreError> {
        let mut waited = Duration::ZERO;
        loop {
            let stamp = Stamp::at(path);
            let bytes = match fs::read(path) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    return Ok(Ok((None, String::new(), None)));
                }
                Err(error) => return Err(failed("read", path, error)),
            };
            let text =
                String::from_utf8(bytes).map_err(|error| Unreadable::NotJson(error.utf8_error().to_string()));
            match text.and_then(|text| Ok((Record::parse(&text)?, text))) {
                Ok((record, text)) => return Ok(Ok((Some(record), text, stamp))),
                Err(why) if waited >= HALF_WRITTEN => return Ok(Err(why)),
                Err(_) => {
                    let pause = Duration::from_millis(20);
                    std::thread::sleep(pause);
                    waited += pause;
                }
            }
        }
    }

    /// Writes beside and renames; false where somebody changed the document meanwhile.
    fn write(&self, path: &Path, record: &Record, stamp: Option<Stamp>) -> Result<bool, StoreError> {
        let beside = self.place.dir().join(litter_name("document", &Owner::this()));
        let written = fs::write(&beside, record.text()).and_then(|()| {
            if let Ok(meta) = fs::metadata(path) {
                fs::set_permissions(&beside, meta.permissions())?;
            }
            if Stamp::at(path) != stamp {
                return Ok(false);
            }
            fs::rename(&beside, path).map(|()| true)
        });
        if !matches!(written, Ok(true)) {
            let _ = fs::remove_file(&beside);
        }
        written.map_err(|error| failed("written", path, error))
    }

    fn move_aside(&self, path: &Path, why: Unreadable, now: DateTime<Utc>) -> Result<Aside, StoreError> {
        let time = stamp(now).replace(':', "-");
        for number in 1.. {
            let mut name = format!("{DOCUMENT}.corrupt-{time}");
            if number > 1 {
                name.push_str(&format!("-{number}"));
            }
            let aside = path.with_file_name(name);
            // A hard link refuses to replace, unlike a rename; where there are none, nothing has the name but by chance.
            match fs::hard_link(path, &aside) {
                Ok(()) => {
                    fs::remove_file(path).map_err(|error| failed("moved aside", path, error))?;
                    return Ok(Aside { path: aside, why });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(_) => {
                    fs::rename(path, &aside).map_err(|error| failed("moved aside", path, error))?;
                    return Ok(Aside { path: aside, why });
                }
            }
        }
        unreachable!("numbers do not end")
    }
}

fn failed(what: &'static str, path: &Path, error: io::Error) -> StoreError {
    StoreError::Io { what, path: path.to_owned(), error }
}

//! Reads, changes and writes the document on disk under the lock, atomically, and never over an unreadable one.

use super::lock::{Broken, Lock, LockError, Patience, sweep, temporary_name};
use super::owner::Owner;
use super::place::{DOCUMENT, Place};
use super::record::{Record, Unreadable};
use super::status::stamp;
use super::unfit::lost;
use crate::store::beneath::{SMALL, Stamp};
use chrono::{DateTime, Utc};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// How long an unreadable document is read again, because an agent may be writing it in place.
const UNREADABLE_WAIT: Duration = Duration::from_millis(500);
/// Attempts to write while a process without the lock changes the document.
const ATTEMPTS: usize = 20;

/// Why the document was not written.
#[derive(Debug, Error)]
pub enum StoreError {
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error("\"{}\" cannot be {what}: {error}", .path.display())]
    Io {
        /// `read`, `written` or `moved aside`.
        what: &'static str,
        path: PathBuf,
        error: io::Error,
    },
}

/// A document that was unreadable and moved aside, or could not be kept whole and was copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aside {
    /// Its new path.
    pub path: PathBuf,
    /// What was wrong with it.
    pub why: Unreadable,
}

/// A document that was read.
#[derive(Default)]
struct There {
    record: Option<Arc<Record>>,
    text: String,
    stamp: Option<Stamp>,
    /// What is lost when it is written.
    loses: Option<Unreadable>,
}

/// What was found while writing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// An unreadable document that was moved aside.
    pub aside: Option<Aside>,
    /// A dead owner's lock that was broken.
    pub broken: Option<Broken>,
}

/// Reads the document without the lock; `None` if there is none, or it cannot be read at the moment.
pub fn read(place: &Place) -> Option<Record> {
    Record::parse(&place.door().read_text(&place.document(), SMALL).ok()?).ok()
}

/// The document of one place.
#[derive(Debug)]
pub struct Store {
    place: Place,
    lock: Lock,
    patience: Patience,
    swept: bool,
    /// Whether a document was copied because of an unfit value.
    unfit: bool,
    /// The document when it was last read or written.
    known: Option<(Stamp, Arc<Record>)>,
    /// The last written text and its document. While nobody else writes, nothing is parsed twice.
    written: Option<(String, Arc<Record>)>,
}

impl Store {
    /// The document at `place`.
    pub fn new(place: Place) -> Self {
        let lock = Lock::behind(place.door(), place.dir());
        Self {
            place,
            lock,
            patience: Patience::default(),
            swept: false,
            unfit: false,
            known: None,
            written: None,
        }
    }

    pub const fn place(&self) -> &Place {
        &self.place
    }

    /// The current document, read without the lock. It is not read again while its stamp is unchanged.
    pub fn known(&mut self) -> Option<Arc<Record>> {
        let stamp = self.place.door().stamp(&self.place.document())?;
        if let Some((_, known)) = self.known.as_ref().filter(|(known, _)| *known == stamp) {
            return Some(known.clone());
        }
        let bytes = self.place.door().read(&self.place.document(), SMALL).ok()?;
        let record = match self.ours(&bytes) {
            Some((_, ours)) => ours.clone(),
            None => Arc::new(Record::parse(std::str::from_utf8(&bytes).ok()?).ok()?),
        };
        self.known = Some((stamp, record.clone()));
        Some(record)
    }

    /// What we last wrote, if the document still has exactly that text.
    fn ours(&self, bytes: &[u8]) -> Option<&(String, Arc<Record>)> {
        self.written.as_ref().filter(|(text, _)| text.as_bytes() == bytes)
    }

    /// Reads the document, lets `change` modify it, and writes it, all under the lock. Waits for the lock for at most
    /// `wait`. `change` gets whether the document is new, and may be called several times.
    pub fn update(
        &mut self,
        now: DateTime<Utc>,
        wait: Duration,
        mut change: impl FnMut(&mut Record, bool),
    ) -> Result<Found, StoreError> {
        self.place.make().map_err(|error| failed("made", self.place.dir(), error))?;
        if !self.swept {
            sweep(&self.place.door(), self.place.dir());
            self.swept = true;
        }
        let held = self.lock.take(wait, &mut self.patience)?;
        let mut found = Found { aside: None, broken: held.broken.clone() };
        let path = self.place.document();
        for _ in 0..ATTEMPTS {
            let There { record: before, text, stamp, loses } = match self.read_whole(&path)? {
                Ok(there) => there,
                Err(why) => {
                    found.aside = Some(self.move_aside(&path, why, now)?);
                    continue;
                }
            };
            let minimal = || Record::minimal(self.place.track(), now);
            let mut record = before.as_deref().cloned().unwrap_or_else(minimal);
            change(&mut record, before.is_none());
            if before.as_deref() == Some(&record) && record.text() == text {
                return Ok(found);
            }
            let unfit = before.as_deref().and_then(|before| lost(before, &record));
            // Once a process: an agent may write the same again and again.
            let unfit = unfit.filter(|_| !std::mem::replace(&mut self.unfit, true));
            if let Some(why) = loses.or(unfit).filter(|_| found.aside.is_none()) {
                found.aside = Some(self.copy_aside(&path, &text, why, now)?);
            }
            let text = record.text();
            if self.write(&path, &text, stamp)? {
                self.written = Some((text, Arc::new(record)));
                return Ok(found);
            }
        }
        let busy = io::Error::new(ErrorKind::ResourceBusy, "another program keeps rewriting it");
        Err(failed("written", &path, busy))
    }

    /// Reads the document. An unreadable one is read again for a while.
    fn read_whole(&self, path: &Path) -> Result<Result<There, Unreadable>, StoreError> {
        let mut waited = Duration::ZERO;
        loop {
            let stamp = self.place.door().stamp(path);
            let bytes = match self.place.door().read(path, SMALL) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Ok(There::default())),
                Err(error) => return Err(failed("read", path, error)),
            };
            // Our own text needs no parsing, and writing it loses nothing.
            if let Some((text, record)) = self.ours(&bytes) {
                let (text, record) = (text.clone(), Some(record.clone()));
                return Ok(Ok(There { record, text, stamp, loses: None }));
            }
            let text =
                String::from_utf8(bytes).map_err(|error| Unreadable::NotJson(error.utf8_error().to_string()));
            match text.and_then(|text| Ok((Record::read(&text)?, text))) {
                Ok(((record, loses), text)) => {
                    return Ok(Ok(There { record: Some(Arc::new(record)), text, stamp, loses }));
                }
                Err(why) if waited >= UNREADABLE_WAIT => return Ok(Err(why)),
                Err(_) => {
                    let pause = Duration::from_millis(20);
                    std::thread::sleep(pause);
                    waited += pause;
                }
            }
        }
    }

    /// Writes a temporary file and renames it; returns false if another process changed the document meanwhile.
    fn write(&self, path: &Path, text: &str, stamp: Option<Stamp>) -> Result<bool, StoreError> {
        let beside = self.place.dir().join(temporary_name("document", &Owner::this()));
        let door = self.place.door();
        let written = door.create_new(&beside).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            if let Ok(before) = door.open(path).and_then(|file| file.metadata()) {
                file.set_permissions(before.permissions())?;
            }
            if door.stamp(path) != stamp {
                return Ok(false);
            }
            door.rename(&beside, path).map(|()| true)
        });
        if !matches!(written, Ok(true)) {
            let _ = door.remove_file(&beside);
        }
        written.map_err(|error| failed("written", path, error))
    }

    fn move_aside(&self, path: &Path, why: Unreadable, now: DateTime<Utc>) -> Result<Aside, StoreError> {
        let door = self.place.door();
        let aside = keep_under(path, "corrupt", now, |aside| match door.hard_link(path, aside) {
            // Unlike a rename, a hard link never replaces a file. Without hard links, the free name is taken on
            // trust.
            Ok(()) => door.remove_file(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(error),
            Err(_) => door.rename(path, aside),
        });
        Ok(Aside { path: aside.map_err(|error| failed("moved aside", path, error))?, why })
    }

    /// Copies the text of a document that cannot be kept whole to a file beside it.
    fn copy_aside(
        &self,
        path: &Path,
        text: &str,
        why: Unreadable,
        now: DateTime<Utc>,
    ) -> Result<Aside, StoreError> {
        let aside = keep_under(path, "before", now, |aside| {
            self.place.door().create_new(aside)?.write_all(text.as_bytes())
        });
        Ok(Aside { path: aside.map_err(|error| failed("copied", path, error))?, why })
    }
}

/// Calls `keep` with free names beside `path` until one works, and returns it.
fn keep_under(
    path: &Path,
    what: &str,
    now: DateTime<Utc>,
    keep: impl Fn(&Path) -> io::Result<()>,
) -> io::Result<PathBuf> {
    let time = stamp(now).replace(':', "-");
    for number in 1.. {
        let mut name = format!("{DOCUMENT}.{what}-{time}");
        if number > 1 {
            name.push_str(&format!("-{number}"));
        }
        let aside = path.with_file_name(name);
        match keep(&aside) {
            Ok(()) => return Ok(aside),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    unreachable!("numbers do not end")
}

fn failed(what: &'static str, path: &Path, error: io::Error) -> StoreError {
    StoreError::Io { what, path: path.to_owned(), error }
}

//! A run's journal: append-only lines of JSON, flushed once a step, the source of truth.
//!
//! The first line is the header with the format's version. Each line ends with a seal over its text and the seal of the
//! line before it, so that nobody without this user's key can add a record, change one, or put one elsewhere. A torn
//! last line, as a crash leaves it, is dropped.

mod format;
mod place;
mod read;

pub use format::{FORMAT, JournalError};
pub use place::Place;
pub use read::{Claim, Contents, Damage, begun_by_us, claim, read, set_aside};

use super::disk::{Op, pass};
use super::keyring::Newest;
use super::seal::{Seal, Sealer};
use crate::run::event::Record;
use format::Header;
use serde::Serialize;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;

/// Fails where a journal was written by a newer version.
pub fn writable(place: &Place, contents: &Contents) -> Result<(), JournalError> {
    if contents.format > FORMAT {
        return Err(JournalError::Newer { path: place.path.clone(), format: contents.format });
    }
    Ok(())
}

/// An open journal. One writer at a time: whoever holds the drive lock.
#[derive(Debug)]
pub struct Journal {
    place: Place,
    file: File,
    /// What was appended and is not in the file yet.
    lines: Lines,
    written: u64,
    /// A write failed, and may have left a part of itself behind.
    torn: bool,
    /// The seal of the last line in the file.
    last: Option<Seal>,
    newest: Newest,
}

impl Place {
    /// Keeps the seal of a journal's first line, before there is a journal: from then on there is always a newest seal,
    /// and one that is gone was taken away.
    fn keep_first(&self, lines: &Lines) -> Result<Newest, JournalError> {
        let newest = self.keep_newest()?;
        if let Some(first) = &lines.last {
            newest.first(first).map_err(|error| self.unkept(error))?;
        }
        Ok(newest)
    }
}

/// Lines, each sealed after the one before it.
#[derive(Debug)]
struct Lines {
    buffer: Vec<u8>,
    sealer: Sealer,
    last: Option<Seal>,
}

impl Lines {
    /// Lines that follow the one with this seal.
    fn after(last: Option<Seal>, sealer: Sealer) -> Self {
        Self { buffer: Vec::new(), sealer, last }
    }

    /// The lines of a journal from its beginning.
    fn begin(sealer: Sealer) -> Self {
        let mut lines = Self::after(None, sealer);
        let made_by = concat!("superpower.nvim ", env!("CARGO_PKG_VERSION")).to_owned();
        lines.put(&Header { format: FORMAT, made_by });
        lines
    }

    fn put(&mut self, value: &impl Serialize) {
        let before = self.buffer.len();
        if serde_json::to_writer(&mut self.buffer, value).is_err() {
            // Records are plain data; should one not serialise, half a line would be worse than none.
            self.buffer.truncate(before);
            return;
        }
        self.last = Some(self.sealer.close(self.last.as_ref(), &mut self.buffer, before));
    }
}

impl Journal {
    /// Makes a new journal with its header, not written yet.
    pub fn create(place: &Place) -> Result<Self, JournalError> {
        let lines = Lines::begin(place.make_sealer()?);
        let newest = place.keep_first(&lines)?;
        let file = place.door.create_new(&place.path).map_err(place.io())?;
        Ok(Self::with(place, file, (0, None), lines, newest))
    }

    /// Opens a journal that was read, is ours and whole, to append after its last line.
    pub fn open(place: &Place, contents: &Contents) -> Result<Self, JournalError> {
        writable(place, contents)?;
        let lines = Lines::after(contents.last, place.make_sealer()?);
        let file = place.door.open_to_write(&place.path).map_err(place.io())?;
        file.set_len(contents.length).map_err(place.io())?;
        let newest = place.keep_newest()?;
        Ok(Self::with(place, file, (contents.length, contents.last), lines, newest))
    }

    /// Puts these records, sealed, in the place of a journal that is not ours. There is a whole journal in its place at
    /// every instant.
    pub fn rewrite(place: &Place, records: &[Record]) -> Result<(), JournalError> {
        let mut lines = Lines::begin(place.make_sealer()?);
        let newest = place.keep_first(&lines)?;
        records.iter().for_each(|record| lines.put(record));
        place.door.replace_flushed(&place.path, &lines.buffer).map_err(place.io())?;
        lines.last.iter().for_each(|last| newest.keep(last));
        Ok(())
    }

    /// With what is in the file: its length, and the seal of its last line.
    fn with(
        place: &Place,
        file: File,
        (written, last): (u64, Option<Seal>),
        lines: Lines,
        newest: Newest,
    ) -> Self {
        Self { place: place.clone(), file, lines, written, torn: false, last, newest }
    }

    /// Whether a record waits to be written.
    pub fn waits(&self) -> bool {
        !self.lines.buffer.is_empty()
    }

    /// Takes a record; [`Journal::write`] or [`Journal::flush`] brings it to the file.
    pub fn append(&mut self, record: &Record) {
        self.lines.put(record);
    }

    /// Hands what was appended to the operating system: it survives the death of the editor, not of the machine.
    pub fn write(&mut self) -> Result<(), JournalError> {
        if self.lines.buffer.is_empty() {
            return Ok(());
        }
        pass(Op::Write, &self.place.path).and_then(|()| self.untouched()).map_err(self.place.io())?;
        if self.torn {
            self.file.set_len(self.written).map_err(self.place.io())?;
        }
        // A write that failed halfway is overwritten by the next try.
        let start = self.file.seek(SeekFrom::Start(self.written));
        if let Err(error) = start.and_then(|_| self.file.write_all(&self.lines.buffer)) {
            self.cut(self.written);
            return Err(self.place.io()(error));
        }
        self.written += self.lines.buffer.len() as u64;
        self.last = self.lines.last;
        self.lines.buffer.clear();
        self.torn = false;
        Ok(())
    }

    /// Brings what was appended to the disk. What cannot be flushed is taken back: it counts as not having happened.
    pub fn flush(&mut self) -> Result<(), JournalError> {
        let (length, last) = (self.written, self.last);
        self.write()?;
        if let Err(error) = pass(Op::Flush, &self.place.path).and_then(|()| self.file.sync_data()) {
            self.cut(length);
            (self.last, self.lines.last) = (last, last);
            return Err(self.place.io()(error));
        }
        self.last.iter().for_each(|last| self.newest.keep(last));
        Ok(())
    }

    fn cut(&mut self, length: u64) {
        self.written = length;
        self.torn = self.file.set_len(length).is_err();
    }

    /// Fails where a write would be lost, or would destroy what somebody else has written.
    pub fn still_ours(&self) -> Result<(), JournalError> {
        self.untouched().map_err(self.place.io())
    }

    /// What is written goes to the file that others will read, and nobody else has written to it: a directory that
    /// was removed or replaced takes bytes without an error, and loses them.
    fn untouched(&self) -> io::Result<()> {
        let (ours, there) = (self.file.metadata()?, self.place.door.stat(&self.place.path)?);
        if (ours.dev(), ours.ino()) != there.file {
            return Err(io::Error::other("it was replaced by another file while the run was active"));
        }
        if ours.len() != self.written && !self.torn {
            return Err(io::Error::other("something else has written to it while the run was active"));
        }
        Ok(())
    }
}

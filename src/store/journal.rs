//! A run's journal, the source of truth: append-only lines of JSON, flushed after each step.
//!
//! The first line is the header with the format's version. Each line ends with a seal over its text and the previous
//! line's seal, so that nobody without this user's key can add, change or move a record. A torn last line, as a crash
//! leaves it, is dropped.

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

/// Fails if the journal was written by a newer version.
pub fn writable(place: &Place, contents: &Contents) -> Result<(), JournalError> {
    if contents.format > FORMAT {
        return Err(JournalError::Newer { path: place.path.clone(), format: contents.format });
    }
    Ok(())
}

/// An open journal. The holder of the lease is its only writer.
#[derive(Debug)]
pub struct Journal {
    place: Place,
    file: File,
    /// Lines that were appended but not written yet.
    lines: Lines,
    written: u64,
    /// Whether a write failed and may have left part of a line in the file.
    torn: bool,
    /// The seal of the last line in the file.
    last: Option<Seal>,
    newest: Newest,
}

impl Place {
    /// Saves the seal of the first line before the journal is created. From then on a newest seal always exists, so a
    /// missing one means that it was removed.
    fn keep_first(&self, lines: &Lines) -> Result<Newest, JournalError> {
        let newest = self.keep_newest()?;
        if let Some(first) = &lines.last {
            newest.first(first).map_err(|error| self.seal_error(error))?;
        }
        Ok(newest)
    }
}

/// A buffer of lines, each sealed together with the seal of the previous line.
#[derive(Debug)]
struct Lines {
    buffer: Vec<u8>,
    sealer: Sealer,
    last: Option<Seal>,
}

impl Lines {
    /// Lines that follow the line with this seal.
    fn after(last: Option<Seal>, sealer: Sealer) -> Self {
        Self { buffer: Vec::new(), sealer, last }
    }

    /// The first lines of a new journal.
    fn begin(sealer: Sealer) -> Self {
        let mut lines = Self::after(None, sealer);
        let made_by = concat!("superpower.nvim ", env!("CARGO_PKG_VERSION")).to_owned();
        lines.put(&Header { format: FORMAT, made_by });
        lines
    }

    fn put(&mut self, value: &impl Serialize) {
        let before = self.buffer.len();
        if serde_json::to_writer(&mut self.buffer, value).is_err() {
            // Records are plain data, so this should not happen; if it does, half a line would be worse than none.
            self.buffer.truncate(before);
            return;
        }
        self.last = Some(self.sealer.close(self.last.as_ref(), &mut self.buffer, before));
    }
}

impl Journal {
    /// Creates a journal. Its header is written with the first records.
    pub fn create(place: &Place) -> Result<Self, JournalError> {
        let lines = Lines::begin(place.make_sealer()?);
        let newest = place.keep_first(&lines)?;
        let file = place.door.create_new(&place.path).map_err(place.io())?;
        Ok(Self::with(place, file, (0, None), lines, newest))
    }

    /// Opens a journal of ours that was read, to append after its last valid line.
    pub fn open(place: &Place, contents: &Contents) -> Result<Self, JournalError> {
        writable(place, contents)?;
        let lines = Lines::after(contents.last, place.make_sealer()?);
        let file = place.door.open_to_write(&place.path).map_err(place.io())?;
        file.set_len(contents.length).map_err(place.io())?;
        let newest = place.keep_newest()?;
        Ok(Self::with(place, file, (contents.length, contents.last), lines, newest))
    }

    /// Replaces a journal that is not ours by these records, sealed. The replacement is atomic.
    pub fn rewrite(place: &Place, records: &[Record]) -> Result<(), JournalError> {
        let mut lines = Lines::begin(place.make_sealer()?);
        let newest = place.keep_first(&lines)?;
        records.iter().for_each(|record| lines.put(record));
        place.door.replace_flushed(&place.path, &lines.buffer).map_err(place.io())?;
        lines.last.iter().for_each(|last| newest.keep(last));
        Ok(())
    }

    /// `written` and `last` are the length of the file and the seal of its last line.
    fn with(
        place: &Place,
        file: File,
        (written, last): (u64, Option<Seal>),
        lines: Lines,
        newest: Newest,
    ) -> Self {
        Self { place: place.clone(), file, lines, written, torn: false, last, newest }
    }

    /// Whether there are records that were not written yet.
    pub fn has_unwritten(&self) -> bool {
        !self.lines.buffer.is_empty()
    }

    /// Queues a record; [`Journal::write`] or [`Journal::flush`] writes it.
    pub fn append(&mut self, record: &Record) {
        self.lines.put(record);
    }

    /// Writes the queued records to the file. They then survive a crash of the editor, but not of the machine.
    pub fn write(&mut self) -> Result<(), JournalError> {
        if self.lines.buffer.is_empty() {
            return Ok(());
        }
        pass(Op::Write, &self.place.path).and_then(|()| self.check_unchanged()).map_err(self.place.io())?;
        if self.torn {
            self.file.set_len(self.written).map_err(self.place.io())?;
        }
        // The next attempt overwrites a write that failed halfway.
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

    /// Writes and flushes the queued records. Records that cannot be flushed are removed again, as if they had not
    /// happened.
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

    /// Fails if a write would be lost, or would destroy what another process has written.
    pub fn ensure_ours(&self) -> Result<(), JournalError> {
        self.check_unchanged().map_err(self.place.io())
    }

    /// Checks that the open file is still the one at the path, and that nobody else has written to it. Writes to a
    /// file in a removed or replaced directory succeed, but are lost.
    fn check_unchanged(&self) -> io::Result<()> {
        let (ours, there) = (self.file.metadata()?, self.place.door.stat(&self.place.path)?);
        if (ours.dev(), ours.ino()) != there.file {
            return Err(io::Error::other("the file was replaced while the run was active"));
        }
        if ours.len() != self.written && !self.torn {
            return Err(io::Error::other("another program wrote to it while the run was active"));
        }
        Ok(())
    }
}

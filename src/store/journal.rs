//! A run's journal: append-only lines of JSON, flushed once a step, the source of truth.
//!
//! The first line is the header with the format's version. A torn last line, as a crash leaves it, is dropped. A
//! broken line before it is the work of something else than a crash: what stands before it is read, and whoever drives
//! on sets the whole aside first, says so, and never deletes it.

use super::atomic;
use super::disk::{Op, pass};
use crate::run::event::{Event, Record};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The version that is written. Newer ones are read as far as they are understood, and never written.
pub const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Header {
    format: u32,
    #[serde(default)]
    made_by: String,
}

/// Why a journal cannot be used.
#[derive(Debug, Error)]
pub enum JournalError {
    /// The disk.
    #[error("cannot use the journal \"{}\": {error}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Not even its beginning can be read.
    #[error("the journal \"{}\" is damaged at line {line}, so the run cannot be read; start it anew", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// From 1.
        line: usize,
    },
    /// Written by a newer version of the plugin.
    #[error("the journal \"{}\" has format {format}, newer than {FORMAT}: update superpower.nvim to go on with this run", path.display())]
    Newer {
        /// Which file.
        path: PathBuf,
        /// Its format.
        format: u32,
    },
}

/// What a journal says.
#[derive(Clone, Debug)]
pub struct Contents {
    /// The header's format.
    pub format: u32,
    /// The records in order; the first is `RunStarted`.
    pub records: Vec<Record>,
    /// Bytes up to the end of the last whole line: where the next record goes.
    pub length: u64,
    /// Whether a torn last line was dropped.
    pub torn: bool,
    /// The line, from 1, from which on nothing was read: it is no record, and more stand behind it.
    pub damaged: Option<usize>,
}

/// Reads a journal.
pub fn read(path: &Path) -> Result<Contents, JournalError> {
    let io = |error| JournalError::Io { path: path.to_owned(), error };
    let damaged = |line| JournalError::Damaged { path: path.to_owned(), line };
    pass(Op::Read, path).map_err(io)?;
    let mut bytes = Vec::new();
    File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)).map_err(io)?;
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let torn = whole < bytes.len();
    let mut contents = Contents { format: 0, records: Vec::new(), length: 0, torn, damaged: None };
    let mut lines = bytes[..whole].split_inclusive(|&byte| byte == b'\n').enumerate().peekable();
    while let Some((at, line)) = lines.next() {
        if at == 0 {
            let header: Header = serde_json::from_slice(line).map_err(|_| damaged(1))?;
            contents.format = header.format;
        } else {
            match serde_json::from_slice::<Record>(line) {
                Ok(record) => contents.records.push(record),
                // A crash of the whole machine can leave a last line of the right length and the wrong bytes.
                Err(_) if lines.peek().is_none() && contents.format <= FORMAT => {
                    contents.torn = true;
                    break;
                }
                Err(_) if contents.format > FORMAT => {}
                Err(_) => {
                    contents.damaged = Some(at + 1);
                    break;
                }
            }
        }
        contents.length += line.len() as u64;
    }
    match contents.records.first() {
        Some(Record { event: Event::RunStarted { .. }, .. }) => Ok(contents),
        Some(_) => Err(damaged(2)),
        None => Err(damaged(contents.damaged.unwrap_or(1))),
    }
}

/// Puts the part of a damaged journal that was read in its place, and gives where the whole of it is kept.
pub fn set_aside(path: &Path, contents: &Contents, now: DateTime<Utc>) -> Result<PathBuf, JournalError> {
    let io = |error| JournalError::Io { path: path.to_owned(), error };
    let aside = atomic::aside(path, now);
    pass(Op::Read, path).map_err(io)?;
    let mut sound = fs::read(path).map_err(io)?;
    sound.truncate(usize::try_from(contents.length).unwrap_or(usize::MAX));
    // There is a whole journal in its place at every instant.
    pass(Op::Write, &aside).map_err(io)?;
    fs::hard_link(path, &aside).or_else(|_| fs::copy(path, &aside).map(drop)).map_err(io)?;
    atomic::replace(path, &sound).map_err(io)?;
    Ok(aside)
}

/// An open journal. One writer at a time: whoever holds the drive lock.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    buffer: Vec<u8>,
    written: u64,
    /// A write failed, and may have left a part of itself behind.
    torn: bool,
}

impl Journal {
    /// Makes a new journal with its header, not written yet.
    pub fn create(path: &Path) -> Result<Self, JournalError> {
        let io = |error| JournalError::Io { path: path.to_owned(), error };
        pass(Op::Write, path).map_err(io)?;
        let file = OpenOptions::new().create_new(true).write(true).open(path).map_err(io)?;
        let mut journal = Self { path: path.to_owned(), file, buffer: Vec::new(), written: 0, torn: false };
        let made_by = concat!("superpower.nvim ", env!("CARGO_PKG_VERSION")).to_owned();
        journal.line(&Header { format: FORMAT, made_by });
        Ok(journal)
    }

    /// Opens a journal that was read, to append after its last whole line.
    pub fn open(path: &Path, contents: &Contents) -> Result<Self, JournalError> {
        let io = |error| JournalError::Io { path: path.to_owned(), error };
        if contents.format > FORMAT {
            return Err(JournalError::Newer { path: path.to_owned(), format: contents.format });
        }
        let file = OpenOptions::new().write(true).open(path).map_err(io)?;
        file.set_len(contents.length).map_err(io)?;
        let (path, written) = (path.to_owned(), contents.length);
        Ok(Self { path, file, buffer: Vec::new(), written, torn: false })
    }

    /// Takes a record; [`Journal::write`] or [`Journal::flush`] brings it to the file.
    pub fn append(&mut self, record: &Record) {
        self.line(record);
    }

    /// Hands what was appended to the operating system: it survives the death of the editor, not of the machine.
    pub fn write(&mut self) -> Result<(), JournalError> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        pass(Op::Write, &self.path).and_then(|()| self.untouched()).map_err(|error| self.failed(error))?;
        // A write that failed halfway is overwritten by the next try.
        let written =
            self.file.seek(SeekFrom::Start(self.written)).and_then(|_| self.file.write_all(&self.buffer));
        if let Err(error) = written {
            self.back_to(self.written);
            return Err(self.failed(error));
        }
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        self.torn = false;
        Ok(())
    }

    /// Brings what was appended to the disk. What cannot be flushed is taken back: it counts as not having happened.
    pub fn flush(&mut self) -> Result<(), JournalError> {
        let before = self.written;
        self.write()?;
        if let Err(error) = pass(Op::Flush, &self.path).and_then(|()| self.file.sync_data()) {
            self.back_to(before);
            return Err(self.failed(error));
        }
        Ok(())
    }

    fn back_to(&mut self, length: u64) {
        self.written = length;
        self.torn = self.file.set_len(length).is_err();
    }

    fn failed(&self, error: io::Error) -> JournalError {
        JournalError::Io { path: self.path.clone(), error }
    }

    /// Fails where a write would be lost, or would destroy what somebody else has written.
    pub fn still_ours(&self) -> Result<(), JournalError> {
        self.untouched().map_err(|error| self.failed(error))
    }

    /// What is written goes to the file that others will read, and nobody else has written to it: a directory that
    /// was removed or replaced takes bytes without an error, and loses them.
    fn untouched(&self) -> io::Result<()> {
        let (ours, there) = (self.file.metadata()?, fs::metadata(&self.path)?);
        if (ours.dev(), ours.ino()) != (there.dev(), there.ino()) {
            return Err(io::Error::other("it was replaced by another file while the run was under way"));
        }
        if ours.len() != self.written && !self.torn {
            return Err(io::Error::other("something else has written to it while the run was under way"));
        }
        Ok(())
    }

    fn line(&mut self, value: &impl Serialize) {
        let before = self.buffer.len();
        if serde_json::to_writer(&mut self.buffer, value).is_err() {
            // Records are plain data; should one not serialise, half a line would be worse than none.
            self.buffer.truncate(before);
            return;
        }
        self.buffer.push(b'\n');
    }
}

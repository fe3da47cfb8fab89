//! A journal read back, and what of it can be believed.
//!
//! Where the header's seal fits this user's key, this project and this run, the journal is ours, and so is each line
//! that fits the line before it. What does not fit was written by something else: it is left out, and never believed
//! later. Whether something of ours is missing is told by the newest seal, which our state keeps: where no line has it,
//! the journal is damaged. Without that seal nobody can tell, and the journal counts as damaged at its end: it may have
//! been cut behind any of its lines.
//!
//! Where the header does not fit, nothing of it is ours. Its records are what its files claim.

use super::format::{FORMAT, Header, JournalError};
use super::place::Place;
use crate::run::event::{Event, Record};
use crate::store::atomic;
use crate::store::beneath::read_from;
use crate::store::seal::{Seal, Sealer};
use chrono::{DateTime, Utc};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// Bytes of a journal that is read.
const LONGEST: u64 = 256 << 20;
/// Bytes of the header's line.
const HEADER: usize = 1024;
/// Bytes in which the first record must end for what it claims to be listed.
const BEGIN: usize = 256 << 10;

/// What a journal says.
#[derive(Clone, Debug)]
pub struct Contents {
    /// The header's format.
    pub format: u32,
    /// The records in order; the first is `RunStarted`.
    pub records: Vec<Record>,
    /// Bytes up to the end of the last line that counts: where the next record goes.
    pub length: u64,
    /// Whether a torn last line was dropped.
    pub torn: bool,
    /// Whether this user's plugin wrote it, in this project.
    pub ours: bool,
    /// Lines between and behind ours that somebody else wrote.
    pub strange: Vec<Range<u64>>,
    /// Where records of ours are missing.
    pub damaged: Option<Damage>,
    /// The seal of the last line that counts.
    pub(super) last: Option<Seal>,
}

/// A place in a journal from which on records are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The line, from 1.
    pub line: usize,
    /// Bytes before it.
    pub offset: u64,
    /// Whether something is known to be missing. Else our state no longer knows where the journal ended.
    pub known: bool,
}

/// Reads a journal.
pub fn read(place: &Place) -> Result<Contents, JournalError> {
    let bytes = bytes(place)?;
    let contents = parse(&bytes, place.sealer().as_ref(), place.newest());
    contents.map_err(|line| JournalError::Damaged { path: place.path.clone(), line })
}

/// Whether the header says that this user's plugin began the journal in this project. Reads no more than that.
pub fn begun_by_us(place: &Place) -> bool {
    let header = place.door.open(&place.path).ok().and_then(|file| lines_of(&file, HEADER).ok());
    place.sealer().zip(header).is_some_and(|(sealer, line)| sealer.open(None, first(&line)).is_some())
}

/// What a journal of somebody else's claims to be about.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The superpower's name, as written.
    pub superpower: String,
    /// When it began, as written.
    pub at: DateTime<Utc>,
}

/// Reads that from the first record, and no more than that.
pub fn claim(place: &Place) -> Option<Claim> {
    let begin = lines_of(&place.door.open(&place.path).ok()?, BEGIN).ok()?;
    let line = begin.split(|&byte| byte == b'\n').nth(1)?;
    match serde_json::from_slice(line).ok()? {
        Record { at, event: Event::RunStarted { superpower, .. } } => Some(Claim { superpower, at }),
        _ => None,
    }
}

/// Whole lines at the beginning of a file, of at most this many bytes together.
fn lines_of(file: &std::fs::File, most: usize) -> io::Result<Vec<u8>> {
    let mut begin = vec![0; most];
    let mut read = 0;
    while read < most {
        match file.read_at(&mut begin[read..], read as u64)? {
            0 => break,
            more => read += more,
        }
    }
    begin.truncate(read);
    begin.truncate(begin.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1));
    Ok(begin)
}

fn first(lines: &[u8]) -> &[u8] {
    lines.split_inclusive(|&byte| byte == b'\n').next().unwrap_or_default()
}

fn bytes(place: &Place) -> Result<Vec<u8>, JournalError> {
    let file = place.door.open(&place.path).map_err(place.io())?;
    // What begins with no header is no journal, however long it is.
    let begin = lines_of(&file, HEADER).map_err(place.io())?;
    if serde_json::from_slice::<Header>(first(&begin)).is_err() {
        return Err(JournalError::Damaged { path: place.path.clone(), line: 1 });
    }
    read_from(&file, &place.path, LONGEST).map_err(place.io())
}

/// The error is the line that cannot be read, so that the run cannot be either.
fn parse(bytes: &[u8], sealer: Option<&Sealer>, newest: Option<Seal>) -> Result<Contents, usize> {
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let mut lines = bytes[..whole].split_inclusive(|&byte| byte == b'\n');
    let first = lines.next().ok_or(1_usize)?;
    let header: Header = serde_json::from_slice(first).map_err(|_| 1_usize)?;
    let sealed = sealer.and_then(|sealer| Some((sealer, sealer.open(None, first)?.1)));
    let mut contents = Contents {
        format: header.format,
        records: Vec::new(),
        length: first.len() as u64,
        torn: whole < bytes.len(),
        ours: sealed.is_some(),
        strange: Vec::new(),
        damaged: None,
        last: sealed.map(|(_, seal)| seal),
    };
    match sealed {
        Some((sealer, seal)) => believed(&mut contents, lines, sealer, seal, newest),
        None => claimed(&mut contents, lines),
    }
    match contents.records.first() {
        Some(Record { event: Event::RunStarted { .. }, .. }) => Ok(contents),
        Some(_) => Err(2),
        None => Err(contents.damaged.map_or(1, |damage| damage.line)),
    }
}

/// The lines of a journal of ours.
fn believed<'a>(
    contents: &mut Contents,
    lines: impl Iterator<Item = &'a [u8]>,
    sealer: &Sealer,
    mut last: Seal,
    newest: Option<Seal>,
) {
    let mut offset = contents.length;
    let mut found = newest == Some(last);
    // Lines that do not fit, and have none behind them yet that does.
    let mut behind: Vec<(usize, Range<u64>, &[u8])> = Vec::new();
    for (number, line) in (2..).zip(lines) {
        let place = offset..offset + line.len() as u64;
        offset = place.end;
        let Some((text, seal)) = sealer.open(Some(&last), line) else {
            behind.push((number, place, line));
            continue;
        };
        match serde_json::from_slice::<Record>(&text) {
            Ok(record) => contents.records.push(record),
            Err(_) if contents.format > FORMAT => {}
            Err(_) => {
                contents.damaged = Some(Damage { line: number, offset: place.start, known: true });
                return;
            }
        }
        contents.strange.extend(behind.drain(..).map(|(_, place, _)| place));
        contents.length = place.end;
        (last, contents.last) = (seal, Some(seal));
        found |= newest == Some(seal);
    }
    if !found {
        let end = contents.records.len() + contents.strange.len() + 2;
        let (line, offset) = behind.first().map_or((end, contents.length), |(line, at, _)| (*line, at.start));
        contents.damaged = Some(Damage { line, offset, known: newest.is_some() || !behind.is_empty() });
    } else if let [(_, _, only)] = behind.as_slice()
        && serde_json::from_slice::<serde_json::Value>(only).is_err()
    {
        // A crash of the whole machine can leave a last line of the right length and the wrong bytes.
        contents.torn = true;
    } else {
        contents.strange.extend(behind.into_iter().map(|(_, place, _)| place));
    }
}

/// The lines of a journal of somebody else's, up to the first that is no record.
fn claimed<'a>(contents: &mut Contents, lines: impl Iterator<Item = &'a [u8]>) {
    let mut lines = (2..).zip(lines).peekable();
    while let Some((number, line)) = lines.next() {
        match serde_json::from_slice::<Record>(line) {
            Ok(record) => contents.records.push(record),
            Err(_) if contents.format > FORMAT => {}
            Err(_) if lines.peek().is_none() => {
                contents.torn = true;
                return;
            }
            Err(_) => {
                contents.damaged = Some(Damage { line: number, offset: contents.length, known: true });
                return;
            }
        }
        contents.length += line.len() as u64;
    }
}

/// Leaves out of a journal of ours what is not ours or not whole, and gives where the whole of it is kept.
pub fn set_aside(
    place: &Place,
    contents: &mut Contents,
    now: DateTime<Utc>,
) -> Result<PathBuf, JournalError> {
    let aside = atomic::aside(&place.path, now);
    let all = bytes(place)?;
    let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(all.len());
    let mut sound = Vec::with_capacity(all.len());
    let mut from = 0;
    for strange in contents.strange.drain(..).filter(|strange| strange.start < contents.length) {
        sound.extend_from_slice(&all[at(from)..at(strange.start)]);
        from = strange.end;
    }
    sound.extend_from_slice(&all[at(from)..at(contents.length)]);
    // There is a whole journal in its place at every instant.
    place
        .door
        .hard_link(&place.path, &aside)
        .or_else(|_| place.door.replace(&aside, &all))
        .map_err(place.io())?;
    let newest = place.keep_newest()?;
    place.door.replace_flushed(&place.path, &sound).map_err(place.io())?;
    contents.length = sound.len() as u64;
    contents.damaged = None;
    contents.last.iter().for_each(|last| newest.keep(last));
    Ok(aside)
}

//! Reads a journal and decides which of its lines to trust.
//!
//! If the header's seal matches this user's key, this project and this run, the journal is ours, and so is each line
//! whose seal matches the previous line. Another program wrote the other lines; they are ignored for good. To find
//! out whether lines of ours are missing, we compare with the newest seal that our state keeps: if no line has it,
//! the journal is damaged. If that seal is missing, we cannot know, and the journal counts as damaged at its end,
//! since it may have been cut after any line.
//!
//! If the header's seal does not match, nothing in the journal is ours. Its records are only claims.

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

/// Size limit of a journal, in bytes.
const MAX_BYTES: u64 = 256 << 20;
/// Size limit of the header's line, in bytes.
const MAX_HEADER: usize = 1024;
/// The first record must end within this many bytes, or the list of runs does not show what it claims.
const MAX_CLAIM: usize = 256 << 10;

/// A journal that was read.
#[derive(Clone, Debug)]
pub struct Contents {
    pub format: u32,
    /// In order; the first is `RunStarted`.
    pub records: Vec<Record>,
    /// Length in bytes up to the end of the last valid line, where the next record is appended.
    pub length: u64,
    /// Whether a torn last line was dropped.
    pub torn: bool,
    /// Whether this user's plugin wrote it in this project.
    pub ours: bool,
    /// Byte ranges of lines that another program wrote between or after ours.
    pub foreign_lines: Vec<Range<u64>>,
    /// Where records of ours are missing.
    pub damaged: Option<Damage>,
    /// The seal of the last valid line.
    pub(super) last: Option<Seal>,
}

/// The place in a journal after which records are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// From 1.
    pub line: usize,
    pub offset: u64,
    /// Whether records are known to be missing. If false, our state no longer knows where the journal ended.
    pub known: bool,
}

pub fn read(place: &Place) -> Result<Contents, JournalError> {
    let bytes = bytes(place)?;
    let contents = parse(&bytes, place.sealer().as_ref(), place.newest());
    contents.map_err(|line| JournalError::Damaged { path: place.path.clone(), line })
}

/// Whether the header's seal shows that this user's plugin began the journal in this project. Reads only the header.
pub fn begun_by_us(place: &Place) -> bool {
    let header = place.door.open(&place.path).ok().and_then(|file| lines_of(&file, MAX_HEADER).ok());
    place.sealer().zip(header).is_some_and(|(sealer, line)| sealer.open(None, first(&line)).is_some())
}

/// What a journal that is not ours claims about its run.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The superpower's name, as written.
    pub superpower: String,
    /// When it began, as written.
    pub at: DateTime<Utc>,
}

/// Reads the claim from the first record only.
pub fn claim(place: &Place) -> Option<Claim> {
    let begin = lines_of(&place.door.open(&place.path).ok()?, MAX_CLAIM).ok()?;
    let line = begin.split(|&byte| byte == b'\n').nth(1)?;
    match serde_json::from_slice(line).ok()? {
        Record { at, event: Event::RunStarted { superpower, .. } } => Some(Claim { superpower, at }),
        _ => None,
    }
}

/// The whole lines within the first `most` bytes of a file.
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
    // Without a header it is not a journal, so the rest is not read.
    let begin = lines_of(&file, MAX_HEADER).map_err(place.io())?;
    if serde_json::from_slice::<Header>(first(&begin)).is_err() {
        return Err(JournalError::Damaged { path: place.path.clone(), line: 1 });
    }
    read_from(&file, &place.path, MAX_BYTES).map_err(place.io())
}

/// On error returns the number of the line because of which the run cannot be read.
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
        foreign_lines: Vec::new(),
        damaged: None,
        last: sealed.map(|(_, seal)| seal),
    };
    match sealed {
        Some((sealer, seal)) => read_sealed(&mut contents, lines, sealer, seal, newest),
        None => read_claims(&mut contents, lines),
    }
    match contents.records.first() {
        Some(Record { event: Event::RunStarted { .. }, .. }) => Ok(contents),
        Some(_) => Err(2),
        None => Err(contents.damaged.map_or(1, |damage| damage.line)),
    }
}

/// Reads the lines of a journal of ours.
fn read_sealed<'a>(
    contents: &mut Contents,
    lines: impl Iterator<Item = &'a [u8]>,
    sealer: &Sealer,
    mut last: Seal,
    newest: Option<Seal>,
) {
    let mut offset = contents.length;
    let mut found = newest == Some(last);
    // Lines with a wrong seal that no valid line follows yet.
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
        contents.foreign_lines.extend(behind.drain(..).map(|(_, place, _)| place));
        contents.length = place.end;
        (last, contents.last) = (seal, Some(seal));
        found |= newest == Some(seal);
    }
    if !found {
        let end = contents.records.len() + contents.foreign_lines.len() + 2;
        let (line, offset) = behind.first().map_or((end, contents.length), |(line, at, _)| (*line, at.start));
        contents.damaged = Some(Damage { line, offset, known: newest.is_some() || !behind.is_empty() });
    } else if let [(_, _, only)] = behind.as_slice()
        && serde_json::from_slice::<serde_json::Value>(only).is_err()
    {
        // After a crash of the machine the last line can have the right length and wrong bytes.
        contents.torn = true;
    } else {
        contents.foreign_lines.extend(behind.into_iter().map(|(_, place, _)| place));
    }
}

/// Reads the lines of a journal that is not ours, up to the first that is not a record.
fn read_claims<'a>(contents: &mut Contents, lines: impl Iterator<Item = &'a [u8]>) {
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

/// Rewrites a damaged journal of ours with its valid lines only, and returns the path of the copy that keeps the
/// original.
pub fn set_aside(
    place: &Place,
    contents: &mut Contents,
    now: DateTime<Utc>,
) -> Result<PathBuf, JournalError> {
    let aside = atomic::aside(&place.path, now);
    let all = bytes(place)?;
    let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(all.len());
    let mut valid = Vec::with_capacity(all.len());
    let mut from = 0;
    for foreign in contents.foreign_lines.drain(..).filter(|foreign| foreign.start < contents.length) {
        valid.extend_from_slice(&all[at(from)..at(foreign.start)]);
        from = foreign.end;
    }
    valid.extend_from_slice(&all[at(from)..at(contents.length)]);
    // The hard link keeps a complete journal at the path at every moment.
    place
        .door
        .hard_link(&place.path, &aside)
        .or_else(|_| place.door.replace(&aside, &all))
        .map_err(place.io())?;
    let newest = place.keep_newest()?;
    place.door.replace_flushed(&place.path, &valid).map_err(place.io())?;
    contents.length = valid.len() as u64;
    contents.damaged = None;
    contents.last.iter().for_each(|last| newest.keep(last));
    Ok(aside)
}

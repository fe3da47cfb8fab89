//! The file that keeps what a process printed: the one writer of it, which masks secrets and minds the size.

use super::{Masker, Secrets, Stream};
use crate::store::beneath::Door;
use crate::sync::locked;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A line of the error stream begins so; the others are kept as they are.
const STDERR: &[u8] = b"stderr: ";
/// An unfinished line longer than this is written before it ends.
const UNFINISHED: usize = 64 * 1024;

/// The file, shared by the two streams.
#[derive(Clone, Debug)]
pub struct Output {
    file: Arc<Mutex<Kept>>,
    secrets: Secrets,
}

#[derive(Debug)]
struct Kept {
    file: File,
    left: u64,
    lost: u64,
}

impl Output {
    /// Appends to `path`, at most `max` bytes.
    pub fn open(door: &Door, path: &Path, max: u64, secrets: Secrets) -> io::Result<Self> {
        let file = door.append(path)?;
        Ok(Self { file: Arc::new(Mutex::new(Kept { file, left: max, lost: 0 })), secrets })
    }

    /// The writer of one stream.
    pub fn writer(&self, stream: Stream) -> Writer {
        Writer {
            output: self.clone(),
            stream,
            masker: self.secrets.stream(),
            unfinished: Vec::new(),
            midline: false,
        }
    }

    /// Appends `parts` as one piece, as far as there is room.
    fn append(&self, parts: &[&[u8]]) {
        let mut kept = locked(&self.file);
        for part in parts {
            let room = usize::try_from(kept.left).unwrap_or(usize::MAX).min(part.len());
            if kept.file.write_all(&part[..room]).is_err() {
                kept.left = 0;
            } else {
                kept.left -= room as u64;
            }
            kept.lost += (part.len() - room) as u64;
        }
    }

    /// Says in the file what of the output it does not have.
    pub fn finish(&self) {
        let mut kept = locked(&self.file);
        if kept.lost > 0 {
            let lost = std::mem::take(&mut kept.lost);
            let _ = writeln!(kept.file, "\n[superpower: {lost} more bytes were not kept]");
        }
    }
}

/// Writes one stream, whole lines at a time, so that the two streams do not run into each other.
#[derive(Debug)]
pub struct Writer {
    output: Output,
    stream: Stream,
    masker: Masker,
    unfinished: Vec<u8>,
    midline: bool,
}

impl Writer {
    /// Takes a chunk.
    pub fn push(&mut self, chunk: &[u8]) {
        let shown = self.masker.push(chunk);
        let whole = memchr::memrchr(b'\n', &shown).map_or(0, |at| at + 1);
        if whole > 0 {
            let line = std::mem::take(&mut self.unfinished);
            self.write(&[&line, &shown[..whole]]);
        }
        self.unfinished.extend_from_slice(&shown[whole..]);
        if self.unfinished.len() > UNFINISHED {
            let line = std::mem::take(&mut self.unfinished);
            self.write(&[&line]);
        }
    }

    /// The stream is over.
    pub fn finish(&mut self) {
        let rest = self.masker.finish();
        let line = std::mem::take(&mut self.unfinished);
        self.write(&[&line, &rest]);
    }

    fn write(&mut self, parts: &[&[u8]]) {
        if self.stream != Stream::Stderr {
            return self.output.append(parts);
        }
        let mut prefixed = Vec::new();
        for line in parts.concat().split_inclusive(|&b| b == b'\n') {
            if !self.midline {
                prefixed.extend_from_slice(STDERR);
            }
            prefixed.extend_from_slice(line);
            self.midline = !line.ends_with(b"\n");
        }
        self.output.append(&[&prefixed]);
    }
}

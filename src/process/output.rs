//! Writes a process's output to its file, with secrets masked and the size limited.

use super::{Masker, Secrets, Stream};
use crate::store::beneath::Door;
use crate::sync::locked;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// The prefix of lines from standard error.
const STDERR: &[u8] = b"stderr: ";
/// An unfinished line longer than this, in bytes, is written before it ends.
const UNFINISHED: usize = 64 * 1024;

/// The file, shared by all streams.
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
    /// Opens `path` for appending at most `max` bytes.
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

    /// Appends `parts` together, up to the limit.
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

    /// Writes how many bytes are missing because of the limit.
    pub fn finish(&self) {
        let mut kept = locked(&self.file);
        if kept.lost > 0 {
            let lost = std::mem::take(&mut kept.lost);
            let _ = writeln!(kept.file, "\n[superpower: {lost} more bytes were not kept]");
        }
    }
}

/// Writes one stream in whole lines, so that lines of different streams are not mixed.
#[derive(Debug)]
pub struct Writer {
    output: Output,
    stream: Stream,
    masker: Masker,
    unfinished: Vec<u8>,
    midline: bool,
}

impl Writer {
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

    /// Writes the rest at the end of the stream.
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

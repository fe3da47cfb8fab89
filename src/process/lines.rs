//! Lines out of chunks: of any length up to a cap, with whole characters whatever the chunks' edges.

use std::borrow::Cow;

/// A line without its end.
#[derive(Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Its text, up to the cap; what is no UTF-8 is replaced.
    pub text: Cow<'a, str>,
    /// How many bytes beyond the cap were dropped.
    pub lost: u64,
}

/// Splits a stream into lines.
#[derive(Debug)]
pub struct Lines {
    cap: usize,
    partial: Vec<u8>,
    lost: u64,
}

impl Lines {
    /// A splitter of lines of at most `cap` bytes.
    pub const fn new(cap: usize) -> Self {
        Self { cap, partial: Vec::new(), lost: 0 }
    }

    /// Takes a chunk, and hands over each line that it completes.
    pub fn push(&mut self, mut chunk: &[u8], mut each: impl FnMut(Line<'_>)) {
        while let Some(end) = memchr::memchr(b'\n', chunk) {
            let (line, rest) = (&chunk[..end], &chunk[end + 1..]);
            if self.partial.is_empty() && self.lost == 0 && line.len() <= self.cap {
                each(Line { text: text(line), lost: 0 });
            } else {
                self.keep(line);
                each(Line { text: text(&self.partial), lost: self.lost });
                self.restart();
            }
            chunk = rest;
        }
        self.keep(chunk);
    }

    /// The stream is over: what is there without a line end is a line.
    pub fn finish(&mut self, each: impl FnOnce(Line<'_>)) {
        if !self.partial.is_empty() || self.lost > 0 {
            each(Line { text: text(&self.partial), lost: self.lost });
        }
        self.restart();
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = self.cap.saturating_sub(self.partial.len()).min(bytes.len());
        self.partial.extend_from_slice(&bytes[..room]);
        self.lost += (bytes.len() - room) as u64;
    }

    fn restart(&mut self) {
        self.lost = 0;
        self.partial.clear();
        self.partial.shrink_to(64 * 1024);
    }
}

fn text(line: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line))
}

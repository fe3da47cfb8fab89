//! Lines out of chunks: of any length up to a cap, with whole characters whatever the chunks' edges.

use std::borrow::Cow;

/// A line without its end.
#[derive(Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Its text, up to the cap; what is no UTF-8 is replaced. Of a longer one its beginning and its end.
    pub text: Cow<'a, str>,
    /// How many bytes were dropped before its end.
    pub lost: u64,
}

/// Splits a stream into lines.
#[derive(Debug)]
pub struct Lines {
    cap: usize,
    partial: Vec<u8>,
    /// The newest bytes of a line that is too long.
    end: Vec<u8>,
    over: u64,
}

/// Bytes of a line's end that are kept, where it is too long: a verdict may stand there.
const END: usize = 8 * 1024;

impl Lines {
    /// A splitter of lines of at most `cap` bytes.
    pub const fn new(cap: usize) -> Self {
        Self { cap, partial: Vec::new(), end: Vec::new(), over: 0 }
    }

    /// Takes a chunk, and hands over each line that it completes.
    pub fn push(&mut self, mut chunk: &[u8], mut each: impl FnMut(Line<'_>)) {
        while let Some(end) = memchr::memchr(b'\n', chunk) {
            let (line, rest) = (&chunk[..end], &chunk[end + 1..]);
            if self.partial.is_empty() && line.len() <= self.cap {
                each(Line { text: text(line), lost: 0 });
            } else {
                self.keep(line);
                self.tell(&mut each);
            }
            chunk = rest;
        }
        self.keep(chunk);
    }

    /// The stream is over: what is there without a line end is a line.
    pub fn finish(&mut self, each: impl FnOnce(Line<'_>)) {
        if !self.partial.is_empty() {
            self.tell(each);
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = self.cap.saturating_sub(self.partial.len()).min(bytes.len());
        self.partial.extend_from_slice(&bytes[..room]);
        let over = &bytes[room..];
        self.over += over.len() as u64;
        let most = self.most_of_end();
        self.end.extend_from_slice(&over[over.len().saturating_sub(most)..]);
        if self.end.len() > 2 * most {
            self.end.drain(..self.end.len() - most);
        }
    }

    /// How much of the end is kept: with the beginning it stays within the cap.
    fn most_of_end(&self) -> usize {
        END.min(self.cap / 4)
    }

    /// Hands over the line, and begins the next.
    fn tell(&mut self, each: impl FnOnce(Line<'_>)) {
        let mut lost = 0;
        if self.over > 0 {
            let most = self.most_of_end();
            let end = &self.end[self.end.len().saturating_sub(most)..];
            let cut = self.cap - most;
            lost = (self.partial.len() - cut) as u64 + self.over - end.len() as u64;
            self.partial.truncate(cut);
            self.partial.extend_from_slice(end);
        }
        // So little may be too much that nothing of it had to be dropped.
        each(Line { text: text(&self.partial), lost });
        self.over = 0;
        self.end.clear();
        self.partial.clear();
        self.partial.shrink_to(64 * 1024);
    }
}

fn text(line: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line))
}

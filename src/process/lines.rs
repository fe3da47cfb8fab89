//! Splits chunks of bytes into lines, up to a maximum length. A character that is split between chunks stays whole.

use super::Secrets;
use std::borrow::Cow;

/// A line without its end.
#[derive(Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Its text; invalid UTF-8 is replaced. Of a line above the maximum length, the start and the end.
    pub text: Cow<'a, str>,
    /// The number of bytes that were dropped before its end.
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
    secrets: Secrets,
}

/// How much of the end of a line that is too long is kept, in bytes, because a verdict may be there.
const END: usize = 8 * 1024;

impl Lines {
    /// Splits into lines of at most `cap` bytes.
    pub fn new(cap: usize) -> Self {
        Self::without(cap, &Secrets::default())
    }

    /// Does the same, and removes the part of a secret that is left where a line is cut.
    pub fn without(cap: usize, secrets: &Secrets) -> Self {
        Self { cap, partial: Vec::new(), end: Vec::new(), over: 0, secrets: secrets.clone() }
    }

    /// Adds a chunk, and passes each line that it completes to `each`.
    pub fn push(&mut self, mut chunk: &[u8], mut each: impl FnMut(Line<'_>)) {
        while let Some(end) = memchr::memchr(b'\n', chunk) {
            let (line, rest) = (&chunk[..end], &chunk[end + 1..]);
            if self.partial.is_empty() && line.len() <= self.cap {
                each(Line { text: text(line), lost: 0 });
            } else {
                self.keep(line);
                self.pass(&mut each);
            }
            chunk = rest;
        }
        self.keep(chunk);
    }

    /// Passes the last line, which has no line end, at the end of the stream.
    pub fn finish(&mut self, each: impl FnOnce(Line<'_>)) {
        if !self.partial.is_empty() {
            self.pass(each);
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

    /// How much of the end is kept, so that start and end together stay within the maximum.
    fn most_of_end(&self) -> usize {
        END.min(self.cap / 4)
    }

    /// Passes the line, and begins the next one.
    fn pass(&mut self, each: impl FnOnce(Line<'_>)) {
        let mut lost = 0;
        if self.over > 0 {
            let most = self.most_of_end();
            let end = &self.end[self.end.len().saturating_sub(most)..];
            let cut = self.cap - most;
            lost = (self.partial.len() - cut) as u64 + self.over - end.len() as u64;
            self.partial.truncate(cut);
            // The rest of a secret that the cut has split would not be recognized and masked later.
            let (begun, ended) =
                if lost == 0 { (0, 0) } else { (self.secrets.begun(&self.partial), self.secrets.ended(end)) };
            lost += (begun + ended) as u64;
            self.partial.truncate(cut - begun);
            self.partial.extend_from_slice(&end[ended..]);
        }
        // `lost` may be 0 even so: the line may be only slightly too long.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_of_a_secret_that_is_cut_in_a_long_line() {
        const SECRET: &str = "correct-horse-battery";
        let secrets = Secrets::new([SECRET.to_owned()]);
        let whole = "x".repeat(200);
        for at in 0..whole.len() {
            let mut line = whole.clone();
            line.insert_str(at, SECRET);
            let mut lines = Lines::without(64, &secrets);
            let mut told = String::new();
            // In small pieces, as a pipe may deliver them.
            for piece in format!("{line}\n").as_bytes().chunks(7) {
                lines.push(piece, |line| {
                    assert!(line.lost >= (whole.len() + SECRET.len() - 64) as u64);
                    told = line.text.into_owned();
                });
            }
            assert!(told.len() <= 64 && told.starts_with('x') || at == 0, "{told}");
            let rest = told.replace(SECRET, "");
            let left = SECRET.as_bytes().windows(4).map(|piece| std::str::from_utf8(piece).unwrap());
            assert_eq!(left.clone().find(|piece| rest.contains(piece)), None, "at {at}: {told}");
        }
    }
}

//! Lines out of chunks: of any length up to a cap, with whole characters whatever the chunks' edges.

use super::Secrets;
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
    secrets: Secrets,
}

/// Bytes of a line's end that are kept, where it is too long: a verdict may stand there.
const END: usize = 8 * 1024;

impl Lines {
    /// A splitter of lines of at most `cap` bytes.
    pub fn new(cap: usize) -> Self {
        Self::without(cap, &Secrets::default())
    }

    /// The same, where nothing of a secret is to be left of a line that is cut.
    pub fn without(cap: usize, secrets: &Secrets) -> Self {
        Self { cap, partial: Vec::new(), end: Vec::new(), over: 0, secrets: secrets.clone() }
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
            // What the cut leaves of a secret would be told by nobody.
            let (begun, ended) =
                if lost == 0 { (0, 0) } else { (self.secrets.begun(&self.partial), self.secrets.ended(end)) };
            lost += (begun + ended) as u64;
            self.partial.truncate(cut - begun);
            self.partial.extend_from_slice(&end[ended..]);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_secret_across_the_cut_of_a_long_line_nothing_is_left() {
        const SECRET: &str = "correct-horse-battery";
        let secrets = Secrets::new([SECRET.to_owned()]);
        let whole = "x".repeat(200);
        for at in 0..whole.len() {
            let mut line = whole.clone();
            line.insert_str(at, SECRET);
            let mut lines = Lines::without(64, &secrets);
            let mut told = String::new();
            // In small pieces, as a pipe may give it.
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

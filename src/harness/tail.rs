//! The end of a long text, with secrets masked.

use crate::process::{Masker, Secrets};
use crate::prompt::head;
use std::collections::VecDeque;

/// Keeps the last bytes of a text, in whole characters. Secrets are masked before the text is cut, because the rest of a
/// secret would not be recognized.
#[derive(Clone, Debug)]
pub struct Tail {
    secrets: Secrets,
    masker: Masker,
    bytes: VecDeque<u8>,
    cap: usize,
    lost: u64,
}

impl Tail {
    /// Keeps at most `cap` bytes.
    pub fn new(cap: usize, secrets: &Secrets) -> Self {
        let masker = secrets.stream();
        Self { secrets: secrets.clone(), masker, bytes: VecDeque::new(), cap, lost: 0 }
    }

    /// Adds text.
    pub fn push(&mut self, text: &str) {
        let shown = self.masker.push(text.as_bytes()).into_owned();
        self.keep(&shown);
    }

    /// Adds a line.
    pub fn line(&mut self, line: &str) {
        self.push(line);
        self.push("\n");
    }

    /// Adds the start of a line, at most `most` bytes.
    pub fn begin(&mut self, line: &str, most: usize) {
        let shown = self.secrets.mask(line).into_owned();
        self.line(head(&shown, most));
    }

    /// The number of bytes dropped from the start.
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// The text that was kept.
    pub fn text(&self) -> String {
        let mut whole = self.clone();
        let held = whole.masker.finish();
        whole.keep(&held);
        let bytes = whole.bytes.make_contiguous();
        let start = bytes.iter().position(|&b| b & 0xC0 != 0x80).unwrap_or(bytes.len());
        String::from_utf8_lossy(&bytes[start..]).into_owned()
    }

    fn keep(&mut self, shown: &[u8]) {
        let bytes = &shown[shown.len().saturating_sub(self.cap)..];
        self.lost += (shown.len() - bytes.len()) as u64;
        let over = (self.bytes.len() + bytes.len()).saturating_sub(self.cap);
        self.bytes.drain(..over);
        self.lost += over as u64;
        self.bytes.extend(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "correct-horse-battery";

    /// Asserts that no piece of the secret longer than one of its words is left.
    fn assert_hidden(text: &str) {
        let pieces = SECRET.as_bytes().windows(6);
        let left = pieces.map(|piece| std::str::from_utf8(piece).unwrap()).find(|piece| text.contains(piece));
        assert_eq!(left, None, "{text}");
    }

    #[test]
    fn a_secret_across_the_cut_is_masked() {
        let secrets = Secrets::new([SECRET.to_owned()]);
        for cut in 0..SECRET.len() + 4 {
            let mut tail = Tail::new(32, &secrets);
            tail.push("before it, ");
            // In two pieces, because a chunk may end anywhere.
            let (one, other) = SECRET.split_at(cut.min(SECRET.len()));
            tail.push(one);
            tail.push(other);
            tail.push(&"x".repeat(32 - SECRET.len() + cut));
            assert_hidden(&tail.text());
            assert!(tail.text().len() <= 32);
        }
    }

    #[test]
    fn a_secret_at_the_cut_end_of_a_line_is_masked() {
        let secrets = Secrets::new([SECRET.to_owned()]);
        for most in 0..40 {
            let mut tail = Tail::new(1024, &secrets);
            tail.begin(&format!("the key is {SECRET}, and more"), most);
            assert_hidden(&tail.text());
        }
    }

    #[test]
    fn text_that_only_starts_like_a_secret_is_kept() {
        let mut tail = Tail::new(1024, &Secrets::new([SECRET.to_owned()]));
        tail.push("correct-h");
        assert_eq!(tail.text(), "correct-h");
        tail.push("orn\n");
        assert_eq!((tail.text(), tail.lost()), ("correct-horn\n".to_owned(), 0));
        let mut tail = Tail::new(4, &Secrets::default());
        tail.push("aäöü");
        assert_eq!((tail.text(), tail.lost()), ("öü".to_owned(), 3));
    }
}

//! The end of a text that may be endless.

use std::collections::VecDeque;

/// Keeps the last bytes of what it is given, whole characters only.
#[derive(Clone, Debug)]
pub struct Tail {
    bytes: VecDeque<u8>,
    cap: usize,
    lost: u64,
}

impl Tail {
    /// Keeps at most `cap` bytes.
    pub const fn new(cap: usize) -> Self {
        Self { bytes: VecDeque::new(), cap, lost: 0 }
    }

    /// Takes more text.
    pub fn push(&mut self, text: &str) {
        let bytes = &text.as_bytes()[text.len().saturating_sub(self.cap)..];
        self.lost += (text.len() - bytes.len()) as u64;
        let over = (self.bytes.len() + bytes.len()).saturating_sub(self.cap);
        self.bytes.drain(..over);
        self.lost += over as u64;
        self.bytes.extend(bytes);
    }

    /// Takes a line.
    pub fn line(&mut self, line: &str) {
        self.push(line);
        self.push("\n");
    }

    /// How many bytes were dropped at the beginning.
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// What was kept.
    pub fn text(&self) -> String {
        let (a, b) = self.bytes.as_slices();
        let bytes = [a, b].concat();
        let start = bytes.iter().position(|&b| b & 0xC0 != 0x80).unwrap_or(bytes.len());
        String::from_utf8_lossy(&bytes[start..]).into_owned()
    }
}

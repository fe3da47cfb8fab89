//! A text with its line index: converts bytes to lines and columns, in bytes and in UTF-16 units.
//!
//! Inside the crate, positions are byte spans; they become lines and columns only where they leave it.

use serde::{Deserialize, Serialize};

/// A half-open range of bytes in a [`Source`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The span from `start` up to, not including, `end`.
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// Whether `offset` is inside, or directly at the end (where a cursor may be).
    pub fn touches(self, offset: usize) -> bool {
        self.start <= offset && offset <= self.end
    }
}

/// A position as editors count, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Position {
    pub line: usize,
    /// Column in bytes, from 0.
    pub col: usize,
    /// Column in UTF-16 units, from 0.
    pub col_utf16: usize,
}

/// A text with the starts of its lines.
#[derive(Clone, Debug)]
pub struct Source {
    text: String,
    lines: Vec<usize>,
}

impl Source {
    /// Indexes `text`. Lines end with `\n`; a `\r` before it belongs to the line.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, lines }
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text in `span`, clipped to the text.
    pub fn slice(&self, span: Span) -> &str {
        let end = self.floor(span.end);
        &self.text[self.floor(span.start).min(end)..end]
    }

    /// The position of a byte offset. Offsets past the end or inside a character are moved back to a valid position.
    pub fn position(&self, offset: usize) -> Position {
        let offset = self.floor(offset);
        let line = self.lines.partition_point(|&start| start <= offset) - 1;
        let before = &self.text[self.lines[line]..offset];
        Position { line, col: before.len(), col_utf16: utf16_length(before) }
    }

    /// The byte offset of a line and byte column, both from 0, moved back to a valid position.
    pub fn offset(&self, line: usize, col: usize) -> usize {
        let Some(&start) = self.lines.get(line) else { return self.text.len() };
        let end = self.lines.get(line + 1).map_or(self.text.len(), |&next| next - 1);
        self.floor(start.saturating_add(col).min(end))
    }

    /// The byte offset of a line and UTF-16 column, both from 0, moved back to a valid position.
    pub fn offset_utf16(&self, line: usize, col: usize) -> usize {
        let start = self.line_start(line);
        let text = &self.text[start..];
        let mut units = 0;
        for (at, c) in text.char_indices() {
            units += c.len_utf16();
            if units > col || c == '\n' {
                return start + at;
            }
        }
        self.text.len()
    }

    /// The byte offset at which a line starts; the end of the text for a line after the last.
    pub fn line_start(&self, line: usize) -> usize {
        self.lines.get(line).copied().unwrap_or(self.text.len())
    }

    fn floor(&self, offset: usize) -> usize {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }
}

/// Number of UTF-16 units in a text, computed from its bytes because lines may be very long.
fn utf16_length(text: &str) -> usize {
    let characters = text.bytes().filter(|byte| byte & 0xc0 != 0x80).count();
    characters + text.bytes().filter(|byte| *byte >= 0xf0).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_bytes_and_utf16_units() {
        let source = Source::new("a: ä𝄞x\nb");
        let x = source.text().find('x').unwrap();
        assert_eq!(source.position(x), Position { line: 0, col: 9, col_utf16: 6 });
        assert_eq!(source.position(usize::MAX), Position { line: 1, col: 1, col_utf16: 1 });
        assert_eq!(source.offset(0, 9), x);
        assert_eq!(source.offset(0, 4), 3, "inside a character moves back to its start");
        assert_eq!(source.offset(7, 0), source.text().len());
        assert_eq!(source.offset_utf16(0, 6), x);
        assert_eq!(source.offset_utf16(0, 5), 5, "inside a pair moves back to its start");
        assert_eq!(source.offset_utf16(0, 99), 10, "beyond the end of a line is its end");
        assert_eq!(source.offset_utf16(1, 9), source.text().len());
        assert_eq!(source.offset_utf16(9, 0), source.text().len());
    }
}

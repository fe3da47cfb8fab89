//! A text with replaced pieces, so that it can be parsed, and the mapping of offsets back to the source.

use std::sync::Arc;

/// A replaced piece, in both texts.
#[derive(Clone, Copy, Debug)]
struct Piece {
    source: (usize, usize),
    here: (usize, usize),
}

/// The text that is parsed: the source, with replacements for what the parser cannot read.
#[derive(Clone, Debug)]
pub struct Patched {
    text: String,
    source: Arc<str>,
    pieces: Vec<Piece>,
}

impl Patched {
    /// The source without replacements.
    pub fn new(source: impl Into<String>) -> Self {
        let text: String = source.into();
        Self { source: text.as_str().into(), text, pieces: Vec::new() }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The source offset of an offset in this text, at the start of a character. Inserted text maps to the piece that it
    /// replaces.
    pub fn to_source(&self, offset: usize) -> usize {
        let next = self.pieces.partition_point(|piece| piece.here.0 <= offset);
        let Some(piece) = next.checked_sub(1).map(|index| self.pieces[index]) else { return offset };
        if offset >= piece.here.1 {
            return offset - piece.here.1 + piece.source.1;
        }
        let mut at = (piece.source.0 + (offset - piece.here.0)).min(piece.source.1);
        while !self.source.is_char_boundary(at) {
            at -= 1;
        }
        at
    }

    /// Whether a part of this range replaces something in the source.
    pub fn is_patched(&self, start: usize, end: usize) -> bool {
        self.pieces.iter().any(|piece| piece.here.0 <= end && piece.here.1 >= start)
    }

    /// This text with another replacement at `start..end` (offsets in this text).
    pub fn replace(&self, start: usize, end: usize, with: &str) -> Self {
        let touched = |piece: &&Piece| piece.here.0 < end && piece.here.1 > start;
        // The new piece absorbs the pieces that it touches.
        let from =
            self.pieces.iter().filter(touched).map(|piece| piece.here.0).min().unwrap_or(start).min(start);
        let to = self.pieces.iter().filter(touched).map(|piece| piece.here.1).max().unwrap_or(end).max(end);
        let new = format!("{}{with}{}", &self.text[from..start], &self.text[end..to]);
        let source = (self.source_start(from), self.source_end(to));
        let shift = |offset: usize| offset - to + from + new.len();
        let mut pieces = Vec::with_capacity(self.pieces.len() + 1);
        pieces.extend(self.pieces.iter().filter(|piece| piece.here.1 <= from && piece.here != (from, to)));
        pieces.push(Piece { source, here: (from, from + new.len()) });
        pieces.extend(
            self.pieces.iter().filter(|piece| piece.here.0 >= to && piece.here.1 > from).map(|piece| Piece {
                source: piece.source,
                here: (shift(piece.here.0), shift(piece.here.1)),
            }),
        );
        let text = format!("{}{new}{}", &self.text[..from], &self.text[to..]);
        Self { text, source: self.source.clone(), pieces }
    }

    fn source_start(&self, offset: usize) -> usize {
        self.pieces
            .iter()
            .find(|piece| piece.here.0 == offset && piece.here.1 > offset)
            .map_or_else(|| self.to_source(offset), |piece| piece.source.0)
    }

    fn source_end(&self, offset: usize) -> usize {
        self.to_source(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_map_back_through_insertions_and_blanks() {
        let quoted = Patched::new("a: b: c\nd").replace(3, 3, "'").replace(8, 8, "'");
        assert_eq!(quoted.text(), "a: 'b: c'\nd");
        assert_eq!([3, 4, 8, 9, 10].map(|at| quoted.to_source(at)), [3, 3, 7, 7, 8]);
        let blanked = quoted.replace(3, 9, "");
        assert_eq!(blanked.text(), "a: \nd");
        assert_eq!([3, 4].map(|at| blanked.to_source(at)), [7, 8]);
        assert!(blanked.is_patched(3, 3) && !blanked.is_patched(4, 5));
    }

    #[test]
    fn an_offset_within_a_replaced_character_is_its_start() {
        let blanked = Patched::new("a: \u{fffd}{").replace(3, 6, "   ");
        assert_eq!([3, 4, 5, 6].map(|at| blanked.to_source(at)), [3, 3, 3, 6]);
    }

    #[test]
    fn a_blank_of_the_same_length_keeps_every_offset() {
        let blanked = Patched::new("key: ????\nnext").replace(5, 9, "    ");
        assert_eq!([5, 7, 9, 10].map(|at| blanked.to_source(at)), [5, 7, 9, 10]);
    }
}

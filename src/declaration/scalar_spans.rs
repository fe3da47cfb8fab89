//! Maps positions in a scalar's value to positions in the text, through quotes, escapes, folded lines and indentation.

use super::style::Style;
use crate::source::Span;

/// For each byte of the value, the range of `raw` that it was read from.
type Map = Vec<(usize, usize)>;

/// The position in the written scalar of each byte of its value.
#[derive(Clone, Debug)]
pub struct Places {
    map: Map,
    /// Start of the first character, even of an empty value.
    first: usize,
}

impl Places {
    /// For a scalar as written: with its quotes, but without the indentation of a block's first line.
    pub fn new(raw: &str, style: Style, value: &str) -> Self {
        let map = match style {
            Style::Plain | Style::Literal | Style::Folded => aligned(raw, value),
            Style::SingleQuoted | Style::DoubleQuoted => unquoted(raw, value, style),
        };
        let first = usize::from(matches!(style, Style::SingleQuoted | Style::DoubleQuoted)).min(raw.len());
        Self { map, first }
    }

    /// The position of a part of the value.
    pub fn place(&self, wanted: Span) -> Span {
        let map = &self.map;
        let before = |offset: usize| {
            let last = offset.checked_sub(1)?.min(map.len().saturating_sub(1));
            map.get(last).map(|(_, end)| *end)
        };
        let end = before(wanted.end).unwrap_or(self.first);
        let start = match map.get(wanted.start) {
            Some((start, _)) if wanted.start < wanted.end => *start,
            Some((start, _)) => before(wanted.start).map_or(*start, |end| end.min(*start)),
            None => end,
        };
        Span::new(start, end.max(start))
    }
}

/// Styles without escapes, where only white space differs.
fn aligned(raw: &str, value: &str) -> Map {
    let mut map = Map::with_capacity(value.len());
    let mut at = 0;
    for c in value.chars() {
        if !c.is_whitespace() {
            at += raw[at..].len() - raw[at..].trim_start().len();
        }
        at = push(&mut map, raw, at, c);
    }
    map
}

/// Maps `c` of the value to `at`, and returns where to search for the next character.
fn push(map: &mut Map, raw: &str, at: usize, c: char) -> usize {
    let found = raw[at..].chars().next();
    let end = match found {
        Some(found) if found == c || !c.is_whitespace() => at + found.len_utf8(),
        // A line break that was folded into a space, with the next line's indentation.
        Some(found) if found.is_whitespace() => at + raw[at..].len() - raw[at..].trim_start().len(),
        _ => at,
    };
    map.extend(std::iter::repeat_n((at, end), c.len_utf8()));
    end
}

fn unquoted(raw: &str, value: &str, style: Style) -> Map {
    let mut map = Map::with_capacity(value.len());
    let mut at = 1.min(raw.len());
    for c in value.chars() {
        // A line break in quotes absorbs the white space around it.
        if !c.is_whitespace() {
            at += raw[at..].len() - raw[at..].trim_start().len();
            at = skip_escaped_breaks(raw, at, style);
        }
        let length = match style {
            Style::DoubleQuoted => escape_length(&raw[at..]),
            _ if raw[at..].starts_with("''") => 2,
            _ => 0,
        };
        if length == 0 {
            at = push(&mut map, raw, at, c);
        } else {
            map.extend(std::iter::repeat_n((at, at + length), c.len_utf8()));
            at += length;
        }
    }
    map
}

fn skip_escaped_breaks(raw: &str, mut at: usize, style: Style) -> usize {
    while style == Style::DoubleQuoted && (raw[at..].starts_with("\\\n") || raw[at..].starts_with("\\\r\n")) {
        at += 1;
        at += raw[at..].len() - raw[at..].trim_start().len();
    }
    at
}

/// Length in bytes of the escape at the start of `rest`, or 0.
fn escape_length(rest: &str) -> usize {
    let mut chars = rest.chars();
    if chars.next() != Some('\\') {
        return 0;
    }
    let length = match chars.next() {
        Some('x') => 4,
        Some('u') => {
            let pair = rest.get(2..4).is_some_and(|high| high.eq_ignore_ascii_case("d8") || is_high(high));
            if pair && rest.get(6..8) == Some("\\u") { 12 } else { 6 }
        }
        Some('U') => 10,
        Some(c) => 1 + c.len_utf8(),
        None => 1,
    };
    (0..=length.min(rest.len())).rev().find(|&length| rest.is_char_boundary(length)).unwrap_or(0)
}

fn is_high(hex: &str) -> bool {
    u8::from_str_radix(hex, 16).is_ok_and(|byte| (0xd8..=0xdb).contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(raw: &str, style: Style, value: &str, wanted: Span) -> Span {
        Places::new(raw, style, value).place(wanted)
    }

    fn found<'a>(raw: &'a str, style: Style, value: &str, part: &str) -> &'a str {
        let start = value.find(part).unwrap();
        let span = place(raw, style, value, Span::new(start, start + part.len()));
        &raw[span.start..span.end]
    }

    #[test]
    fn positions_are_found_in_every_style() {
        assert_eq!(found("a b c", Style::Plain, "a b c", "b"), "b");
        assert_eq!(found("a\n   b", Style::Plain, "a b", "b"), "b");
        assert_eq!(found("'it''s x'", Style::SingleQuoted, "it's x", "x"), "x");
        assert_eq!(found("'it''s x'", Style::SingleQuoted, "it's x", "'"), "''");
        assert_eq!(found(r#""\u00e9 \"q\" x""#, Style::DoubleQuoted, "é \"q\" x", "x"), "x");
        assert_eq!(found(r#""\u00e9 y""#, Style::DoubleQuoted, "é y", "é"), r"\u00e9");
        assert_eq!(found("\"a \\\n  b\"", Style::DoubleQuoted, "a b", "b"), "b");
        assert_eq!(found("\"a\n\n  b c\"", Style::DoubleQuoted, "a\nb c", "c"), "c");
        assert_eq!(found("a\n    b c\n", Style::Literal, "a\nb c\n", "c"), "c");
        assert_eq!(found("a\r\n    b c\r\n", Style::Literal, "a\nb c\n", "c"), "c");
        assert_eq!(found("a\n  b\n\n  c d", Style::Folded, "a b\nc d\n", "d"), "d");
        assert_eq!(found(r#""\ud834\udd1e x""#, Style::DoubleQuoted, "𝄞 x", "x"), "x");
    }

    #[test]
    fn an_empty_span_is_between_two_characters() {
        assert_eq!(place("'ab'", Style::SingleQuoted, "ab", Span::new(2, 2)), Span::new(3, 3));
        assert_eq!(place("'ab'", Style::SingleQuoted, "ab", Span::new(0, 0)), Span::new(1, 1));
        assert_eq!(place("''", Style::SingleQuoted, "", Span::new(0, 0)), Span::new(1, 1));
        assert_eq!(place("", Style::Plain, "", Span::new(0, 0)), Span::new(0, 0));
    }
}

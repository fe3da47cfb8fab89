//! Escapes marker characters in strings. There are two kinds of markers: our own, for what the JSON parser cannot
//! represent, and a key prefix that makes the parser treat an object as a number.

use super::numbers::texts;
use std::borrow::Cow;

/// Precedes the digits of a number. Programs do not exchange text with these three characters; if one does, they are
/// escaped.
pub(super) const NUMBER: char = '\u{fdd0}';
/// Precedes the four digits of a lone surrogate.
pub(super) const SURROGATE: char = '\u{fdd1}';
/// Precedes a letter that stands for one of the three, or a key that is special to the parser.
const GUARD: char = '\u{fdd2}';
const LETTERS: [(char, char); 3] = [(NUMBER, 'n'), (SURROGATE, 'h'), (GUARD, 'g')];
const START: char = 's';
/// The prefix of keys that are special to the parser.
const PARSER_PREFIX: &str = "$serde_json::private::";

/// Escapes every marker in the strings of `json`.
pub(super) fn guard(json: &str) -> Cow<'_, str> {
    texts(json, |quoted| {
        let suspicious =
            quoted.contains(['\\', NUMBER, SURROGATE, GUARD]) || quoted[1..].starts_with(PARSER_PREFIX);
        suspicious.then(|| guarded(quoted)).filter(|guarded| guarded != quoted)
    })
}

fn guarded(quoted: &str) -> String {
    let mut out = String::from("\"");
    let starts = |text: String| text.starts_with(PARSER_PREFIX);
    if serde_json::from_str(quoted).is_ok_and(starts) || quoted[1..].starts_with(PARSER_PREFIX) {
        out.extend([GUARD, START]);
    }
    let mut rest = &quoted[1..];
    while let Some(letter) = rest.chars().next() {
        let escaped = rest.strip_prefix("\\u").and_then(|rest| rest.get(..4));
        let escaped =
            escaped.and_then(|digits| u32::from_str_radix(digits, 16).ok()).and_then(char::from_u32);
        let marked = LETTERS.iter().find(|(mark, _)| letter == *mark || escaped == Some(*mark));
        let mut length = letter.len_utf8();
        if let Some((_, letter)) = marked {
            out.extend([GUARD, *letter]);
            length = if escaped.is_some() { 6 } else { length };
        } else {
            // An escaped character is copied together with its backslash.
            let next = rest[length..].chars().next().filter(|_| letter == '\\');
            length += next.map_or(0, char::len_utf8);
            out.push_str(&rest[..length]);
        }
        rest = &rest[length..];
    }
    out
}

/// Reverses the escaping.
pub(super) fn unguard(text: &str) -> Cow<'_, str> {
    if !text.contains(GUARD) {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split(GUARD);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let letter = part.chars().next();
        out.extend(LETTERS.iter().find(|(_, stands)| letter == Some(*stands)).map(|(mark, _)| *mark));
        out.push_str(&part[letter.map_or(0, char::len_utf8)..]);
    }
    Cow::Owned(out)
}

//! Keeps what a text holds from being taken for marks: ours, which stand for what the JSON reader cannot keep, and those
//! of that reader itself, which takes an object with a certain key for a number.

use super::numbers::texts;
use std::borrow::Cow;

/// Stands before the digits of a number. No text that programs exchange has these three characters, and one that does is
/// guarded.
pub(super) const NUMBER: char = '\u{fdd0}';
/// Stands before the four digits of half a surrogate pair.
pub(super) const HALF: char = '\u{fdd1}';
/// Stands before a letter for one of the three, or at the start of a key that means something to the reader.
const GUARD: char = '\u{fdd2}';
const LETTERS: [(char, char); 3] = [(NUMBER, 'n'), (HALF, 'h'), (GUARD, 'g')];
const START: char = 's';
/// How keys begin that mean something to the reader.
const READERS: &str = "$serde_json::private::";

/// `json` with all that in its strings which could be taken for a mark.
pub(super) fn guard(json: &str) -> Cow<'_, str> {
    texts(json, |quoted| {
        let suspicious = quoted.contains(['\\', NUMBER, HALF, GUARD]) || quoted[1..].starts_with(READERS);
        suspicious.then(|| guarded(quoted)).filter(|guarded| guarded != quoted)
    })
}

fn guarded(quoted: &str) -> String {
    let mut out = String::from("\"");
    let starts = |text: String| text.starts_with(READERS);
    if serde_json::from_str(quoted).is_ok_and(starts) || quoted[1..].starts_with(READERS) {
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
            // What is escaped is passed over with its backslash.
            let next = rest[length..].chars().next().filter(|_| letter == '\\');
            length += next.map_or(0, char::len_utf8);
            out.push_str(&rest[..length]);
        }
        rest = &rest[length..];
    }
    out
}

/// A text as it was before it was guarded.
pub(super) fn bare(text: &str) -> Cow<'_, str> {
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

//! One reader of JSON that others write: what can be understood is, what cannot is named with its place.
//!
//! It makes strict JSON of a text, which a strict reader then takes. Taken in stride are a BOM and characters without a
//! width, terminal sequences between tokens, raw control characters in texts, unknown escapes, lone surrogates (each
//! becomes U+FFFD), trailing commas, and `NaN`; each door says what it takes besides. Of a key that comes twice, the
//! last one counts. The strict reader goes first everywhere: this one is for what that one refuses.

use serde_json::Value;
use std::ops::Range;
use thiserror::Error;

mod scan;

use scan::Scan;

/// What a door takes besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Door {
    /// Comments, `//` and `/* */`.
    comments: bool,
    /// Signs of Markdown between tokens, as in `{**"a"**: 1}`.
    markdown: bool,
    /// What is nested too deeply reads as null; else it is damage.
    cut_deep: bool,
}

/// A document that is written again: nothing in it may be dropped.
pub const FILE: Door = Door { comments: false, markdown: false, cut_deep: false };
/// Settings that people write by hand.
pub const SETTINGS: Door = Door { comments: true, ..FILE };
/// Lines that a program prints.
pub const EVENT: Door = Door { cut_deep: true, ..FILE };
/// Objects in the prose of a model.
pub const PROSE: Door = Door { comments: true, markdown: true, cut_deep: true };

/// Levels that are read; strict readers take a few more.
pub const DEEPEST: usize = 100;
/// Bytes that are looked at for each byte of a text, before the search for objects in it ends.
const EFFORT: usize = 16;
/// The same for a short text.
const LEAST_EFFORT: usize = 1 << 20;

/// Why a text cannot be understood, and where that shows.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{what}, at line {line}, column {column}")]
pub struct Damage {
    /// In a few words.
    pub what: &'static str,
    /// The line, from 1.
    pub line: usize,
    /// The character in it, from 1.
    pub column: usize,
}

impl Damage {
    fn at(text: &str, at: usize, what: &'static str) -> Self {
        let before = &text[..at];
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        Self { what, line: before.matches('\n').count() + 1, column: before[start..].chars().count() + 1 }
    }
}

/// An object that was found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Where it stands.
    pub range: Range<usize>,
    /// The object as strict JSON; of a key that comes twice, both are there.
    pub json: String,
}

/// The only value of a text, as strict JSON.
pub fn strict(text: &str, door: Door) -> Result<String, Damage> {
    let start = scan::blank(text, 0, door);
    let mut scan = Scan::new(text, start, door);
    scan.value().map_err(|what| Damage::at(text, scan.at, what))?;
    let rest = scan::blank(text, scan.at, door);
    // A write that was torn can leave zeros behind.
    let rest = rest + (text[rest..].len() - text[rest..].trim_start_matches('\0').len());
    if rest < text.len() {
        return Err(Damage::at(text, rest, "something stands behind its end"));
    }
    Ok(scan.out)
}

/// The only value of a text.
pub fn value(text: &str, door: Door) -> Result<Value, Damage> {
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    // What the scanner lets through, the strict reader takes: at its word, should one of them change.
    let strict = strict(text, door)?;
    serde_json::from_str(&strict).map_err(|_| Damage::at(text, 0, "it is not JSON"))
}

/// The objects in a text with other things around them, in order, none inside another; and where the text breaks off in
/// the midst of one, which is then not looked into.
pub fn objects(text: &str, door: Door) -> (Vec<Found>, Option<Damage>) {
    let mut found = Vec::new();
    let mut left = LEAST_EFFORT.max(EFFORT * text.len());
    let mut at = 0;
    while let Some(start) = text[at..].find('{').map(|brace| at + brace) {
        let mut scan = Scan::new(text, start, door);
        match scan.value() {
            Ok(()) => {
                at = scan.at;
                found.push(Found { range: start..at, json: scan.out });
            }
            Err(what) if scan.at >= text.len() && scan.has_key => {
                return (found, Some(Damage::at(text, start, what)));
            }
            Err(_) => {
                left = left.saturating_sub(scan.at - start + 1);
                at = start + 1;
            }
        }
        if left == 0 {
            return (found, Some(Damage::at(text, at, "too much in it looks like an object")));
        }
    }
    (found, None)
}

/// The object that begins at a brace.
pub fn object_at(text: &str, start: usize, door: Door) -> Option<Found> {
    let mut scan = Scan::new(text, start, door);
    let whole = text[start..].starts_with('{') && scan.value().is_ok();
    whole.then_some(Found { range: start..scan.at, json: scan.out })
}

/// What the first object of a text says on its own level, as far as it can be read: each key, with its value where that
/// is a short text. For an object that is cut off somewhere.
pub fn outline(text: &str) -> Vec<(String, Option<String>)> {
    let Some(start) = text.find('{') else { return Vec::new() };
    let mut scan = Scan::new(text, start, EVENT);
    scan.outline = Some(Vec::new());
    let _ = scan.value();
    scan.outline.unwrap_or_default()
}

/// Whether a character takes no room and says nothing: a BOM, a joiner, a mark of direction.
pub fn is_invisible(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e0fff}')
}

/// Where a terminal's sequence that begins at `at` ends: a colour, a window's title. `None` where none begins.
pub fn sequence(text: &str, at: usize) -> Option<usize> {
    let rest = text[at..].strip_prefix('\u{1b}')?;
    let len = match rest.chars().next() {
        Some('[') => 1 + rest[1..].find(|c| ('@'..='~').contains(&c)).map_or(rest.len() - 1, |end| end + 1),
        Some(']' | 'P' | 'X' | '^' | '_') => {
            let bell = rest.find('\u{7}').map(|end| end + 1);
            let string = rest.find("\u{1b}\\").map(|end| end + 2);
            bell.into_iter().chain(string).min().unwrap_or(1)
        }
        Some(other) => other.len_utf8(),
        None => 0,
    };
    Some(at + 1 + len)
}

/// `text` without terminal sequences and characters that nobody sees.
pub fn bare(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        if let Some(end) = sequence(text, at) {
            at = end;
            continue;
        }
        if !is_invisible(letter) {
            out.push(letter);
        }
        at += letter.len_utf8();
    }
    out
}

#[cfg(test)]
mod tests;

//! One reader of JSON that others write: what can be understood is, what cannot is named with its place.
//!
//! It makes strict JSON of a text, which a strict reader then takes. Taken in stride are a BOM and characters without a
//! width, terminal sequences between tokens, raw control characters in texts, unknown escapes, lone surrogates (each
//! becomes U+FFFD), trailing commas, and `NaN`; each door says what it takes besides. Of a key that comes twice, the
//! last one counts. The strict reader goes first everywhere: this one is for what that one refuses.

use serde_json::Value;
use std::ops::Range;
use thiserror::Error;

mod door;
mod guard;
mod hidden;
pub mod kept;
pub mod numbers;
mod scan;

pub use door::{DEEPEST, Door, EVENT, FILE, PROSE, SETTINGS};
pub use hidden::{bare, is_invisible, sequence};
use scan::Scan;

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

#[cfg(test)]
mod tests;

//! A lenient reader for JSON from other programs: it reads what can be understood, and reports the rest with its
//! position.
//!
//! It converts the text to strict JSON for a strict parser. It accepts a BOM and zero-width characters, terminal
//! sequences between tokens, raw control characters in strings, unknown escapes, lone surrogates (as U+FFFD),
//! trailing commas and `NaN`. Each door lists what else it accepts. Of a duplicate key, the last value counts. The
//! strict parser always runs first; this reader is for what that one rejects.

use serde_json::Value;
use std::ops::Range;
use thiserror::Error;

mod door;
mod guard;
mod hidden;
pub mod kept;
pub mod numbers;
mod scan;

pub use door::{Door, EVENT, FILE, MAX_DEPTH, PROSE, SETTINGS};
pub use hidden::{bare, is_invisible, sequence};
use scan::Scan;

/// Limit of work per byte of text while searching for objects.
const EFFORT: usize = 16;
/// Minimum of that limit, for short texts.
const MIN_EFFORT: usize = 1 << 20;

/// Why a text cannot be understood, and the position.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{what}, at line {line}, column {column}")]
pub struct Damage {
    pub what: &'static str,
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
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
    pub range: Range<usize>,
    /// Strict JSON. Of a duplicate key, both values are in it.
    pub json: String,
}

/// The only value of a text, as strict JSON.
pub fn strict(text: &str, door: Door) -> Result<String, Damage> {
    let start = scan::blank(text, 0, door);
    let mut scan = Scan::new(text, start, door);
    scan.value().map_err(|what| Damage::at(text, scan.at, what))?;
    let rest = scan::blank(text, scan.at, door);
    // A torn write can leave zero bytes at the end.
    let rest = rest + (text[rest..].len() - text[rest..].trim_start_matches('\0').len());
    if rest < text.len() {
        return Err(Damage::at(text, rest, "unexpected text after its end"));
    }
    Ok(scan.out)
}

/// The only value of a text.
pub fn value(text: &str, door: Door) -> Result<Value, Damage> {
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    // The strict parser should accept the scanner's output. If either changes, we report an error instead of relying
    // on it.
    let strict = strict(text, door)?;
    serde_json::from_str(&strict).map_err(|_| Damage::at(text, 0, "it is not JSON"))
}

/// The objects in a text with other content between them, in order and not nested. Also returns where the text ends
/// inside an object; such an object is not searched.
pub fn objects(text: &str, door: Door) -> (Vec<Found>, Option<Damage>) {
    let mut found = Vec::new();
    let mut left = MIN_EFFORT.max(EFFORT * text.len());
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
            return (found, Some(Damage::at(text, at, "too many possible objects")));
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

/// The top-level keys of the first object in a text, as far as it can be read, with their values if those are short
/// strings. For truncated objects.
pub fn outline(text: &str) -> Vec<(String, Option<String>)> {
    let Some(start) = text.find('{') else { return Vec::new() };
    let mut scan = Scan::new(text, start, EVENT);
    scan.outline = Some(Vec::new());
    let _ = scan.value();
    scan.outline.unwrap_or_default()
}

#[cfg(test)]
mod tests;

//! A JSON reader and writer that preserves other tools' content: what was read is written back unchanged.
//!
//! It is the only reader of documents that are written back.

use super::guard::{SURROGATE, guard, unguard};
use super::numbers::{self, MARK, hide};
use super::{FILE, strict};
use serde::Serialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

/// A JSON text that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    pub value: Value,
    /// A duplicate key of an object. Its last value counts, as in every JSON parser.
    pub duplicate_key: Option<String>,
}

/// Reads a text leniently: it accepts a BOM, trailing zero bytes, trailing commas, raw control characters in strings,
/// lone surrogates, and `NaN` or `Infinity`.
pub fn read(text: &str) -> Result<Read, serde_json::Error> {
    let (value, text) = parsed(text)?;
    let mut names = DuplicateKey::default();
    let _ = (&mut names).deserialize(&mut serde_json::Deserializer::from_str(&text));
    Ok(Read { value, duplicate_key: names.found.map(|name| for_people(&name)) })
}

/// Like [`read`], without the search for duplicate keys, which takes as long as reading.
pub fn value(text: &str) -> Result<Value, serde_json::Error> {
    parsed(text).map(|(value, _)| value)
}

/// The value, and the text from which it was parsed.
fn parsed(text: &str) -> Result<(Value, Cow<'_, str>), serde_json::Error> {
    let text = guard(text.trim_start_matches('\u{feff}').trim_end_matches('\0'));
    match serde_json::from_str(&hide(&text)) {
        Ok(value) => Ok((value, text)),
        Err(error) => {
            let repaired = repaired(&text);
            let read = serde_json::from_str(&hide(&repaired)).map(|value| (value, repaired.clone())).or_else(
                |refused| {
                    // The lenient reader handles the rest.
                    let strict = strict(&repaired, FILE).map_err(|_| refused)?;
                    serde_json::from_str(&hide(&strict)).map(|value| (value, strict))
                },
            );
            // Report the error of the original text, because the repaired one has other columns.
            let (value, text) = read.map_err(|_: serde_json::Error| error)?;
            Ok((value, Cow::Owned(text)))
        }
    }
}

/// The text of a document: indented by two spaces, with a newline at the end, and everything as it was read.
pub fn text(document: &impl Serialize) -> String {
    as_read(&serde_json::to_string_pretty(document).unwrap_or_default()) + "\n"
}

/// The text of a value, on one line.
pub fn line(value: &Value) -> String {
    as_read(&value.to_string())
}

fn as_read(json: &str) -> String {
    unguard(&show(&numbers::show(json))).into_owned()
}

/// Restores lone surrogates in our text to the form in which they were read.
fn show(text: &str) -> Cow<'_, str> {
    if !text.contains(SURROGATE) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::new();
    let mut parts = text.split(SURROGATE);
    shown.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let digits = part.get(..4).is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        if digits {
            shown.push_str("\\u")
        } else {
            shown.push(SURROGATE)
        }
        shown.push_str(part);
    }
    Cow::Owned(shown)
}

/// A string of the document for display: a lone surrogate becomes U+FFFD, a marked number its digits.
pub fn for_people(text: &str) -> String {
    let text = numbers::plain(text);
    let mut parts = text.split(SURROGATE);
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        shown.push('\u{fffd}');
        shown.push_str(part.get(4..).unwrap_or(part));
    }
    unguard(&shown).into_owned()
}

/// Repairs what strict parsers reject. Called only after one has rejected the text.
fn repaired(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        if letter == '"' {
            rest = repair_string(rest, &mut out);
            continue;
        }
        let word = ["NaN", "Infinity", "-Infinity"].into_iter().find(|word| rest.starts_with(word));
        if let Some(word) = word {
            out.push_str(&format!("\"{MARK}{word}\""));
            rest = &rest[word.len()..];
            continue;
        }
        rest = &rest[letter.len_utf8()..];
        let closes = letter == ',' && rest.trim_start().starts_with(['}', ']']);
        if !closes {
            out.push(letter);
        }
    }
    out
}

/// Repairs the string that `text` begins with; returns the rest.
fn repair_string<'a>(text: &'a str, out: &mut String) -> &'a str {
    out.push('"');
    let mut rest = &text[1..];
    while let Some(letter) = rest.chars().next() {
        let mut length = letter.len_utf8();
        match letter {
            '"' => {
                out.push('"');
                return &rest[1..];
            }
            '\\' => match surrogate(rest) {
                Some(first) if (0xdc00..).contains(&first) || !low_follows(rest) => {
                    out.push_str(&format!("{SURROGATE}{}", &rest[2..6]));
                    length = 6;
                }
                Some(_) => {
                    out.push_str(&rest[..12]);
                    length = 12;
                }
                None => {
                    length += rest[1..].chars().next().map_or(0, char::len_utf8);
                    out.push_str(&rest[..length]);
                }
            },
            '\0'..'\u{20}' => out.push_str(&format!("\\u{:04x}", letter as u32)),
            _ => out.push(letter),
        }
        rest = &rest[length..];
    }
    rest
}

/// The lone surrogate that `text` begins with, written `\ud83d`.
fn surrogate(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let code = u32::from_str_radix(digits, 16).ok()?;
    (0xd800..0xe000).contains(&code).then_some(code)
}

fn low_follows(text: &str) -> bool {
    text.get(6..).and_then(surrogate).is_some_and(|second| second >= 0xdc00)
}

/// Finds a duplicate key in an object.
#[derive(Default)]
struct DuplicateKey {
    found: Option<String>,
}

impl<'de> DeserializeSeed<'de> for &mut DuplicateKey {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut DuplicateKey {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut names = HashSet::new();
        while let Some(name) = map.next_key::<String>()? {
            map.next_value_seed(&mut *self)?;
            if names.contains(&name) {
                self.found.get_or_insert(name);
            } else {
                names.insert(name);
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(&mut *self)?.is_some() {}
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }
}

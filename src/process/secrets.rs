//! Masks secret values before text is written or shown, also where a value is split between chunks.

use super::Environment;
use crate::sync::locked;
use regex::bytes::Regex;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Mutex;

/// The replacement of a secret.
const MASK: &str = "***";
/// Shorter values would mask ordinary words.
const SHORTEST: usize = 8;

/// The secret values of an environment.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    pattern: Option<Regex>,
    values: Vec<Vec<u8>>,
    /// The variables and their values.
    named: Vec<(String, String)>,
}

impl Secrets {
    /// The values of variables named `*_KEY`, `*_TOKEN`, `*_SECRET`, of 8 characters or more.
    pub fn of(environment: &Environment) -> Self {
        let named = environment.iter().filter(|(name, _)| {
            let name = name.to_string_lossy().to_ascii_uppercase();
            ["_KEY", "_TOKEN", "_SECRET"].iter().any(|end| name.ends_with(end))
        });
        let named: Vec<(String, String)> = named
            .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
            .collect();
        // Cached, because the values rarely change and are needed in every call of the editor.
        static LAST: Mutex<Option<Secrets>> = Mutex::new(None);
        let mut last = locked(&LAST);
        if let Some(last) = last.as_ref().filter(|last| last.named == named) {
            return last.clone();
        }
        let values = named.iter().map(|(_, value)| value.clone());
        last.insert(Self { named: named.clone(), ..Self::new(values) }).clone()
    }

    /// Masks these values, also in JSON's notation.
    pub fn new(values: impl IntoIterator<Item = String>) -> Self {
        let mut all: Vec<Vec<u8>> = Vec::new();
        for value in values.into_iter().filter(|v| v.chars().count() >= SHORTEST) {
            all.push(in_json(&value).into_bytes());
            all.push(value.into_bytes());
        }
        // The longest first, because one secret may be the start of another.
        all.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        all.dedup();
        let any =
            all.iter().map(|v| regex::escape(&String::from_utf8_lossy(v))).collect::<Vec<_>>().join("|");
        let pattern = if all.is_empty() { None } else { Regex::new(&any).ok() };
        Self { pattern, values: all, named: Vec::new() }
    }

    /// The variables whose values are masked in `text`, in order of appearance.
    pub fn within(&self, text: &str) -> Vec<String> {
        let Some(pattern) = &self.pattern else { return Vec::new() };
        let is = |value: &str, found: &[u8]| found == value.as_bytes() || found == in_json(value).as_bytes();
        let name = |found: &[u8]| self.named.iter().find(|(_, value)| is(value, found)).map(|(name, _)| name);
        pattern.find_iter(text.as_bytes()).filter_map(|found| name(found.as_bytes()).cloned()).collect()
    }

    /// Replaces what was masked by the current values of those variables; `None` if one has no value.
    pub fn reveal(&self, masked: &str, names: &[String]) -> Option<String> {
        let mut parts = masked.split(MASK);
        let mut text = parts.next()?.to_owned();
        let mut names = names.iter();
        for part in parts {
            let wanted = names.next()?;
            text += &self.named.iter().find(|(name, _)| name == wanted)?.1;
            text += part;
        }
        names.next().is_none().then_some(text)
    }

    /// Whether there is nothing to mask.
    pub const fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Masks every secret in `text`.
    pub fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let Some(pattern) = &self.pattern else { return Cow::Borrowed(text) };
        match pattern.replace_all(text.as_bytes(), MASK.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// Masks every text in a value from outside, also its keys.
    pub fn mask_all(&self, value: &mut Value) {
        if self.is_empty() {
            return;
        }
        match value {
            Value::String(text) => self.mask_text(text),
            Value::Array(items) => items.iter_mut().for_each(|v| self.mask_all(v)),
            Value::Object(map) => {
                let old = std::mem::take(map);
                map.extend(old.into_iter().map(|(name, mut value)| {
                    self.mask_all(&mut value);
                    (self.mask(&name).into_owned(), value)
                }));
            }
            _ => {}
        }
    }

    /// Masks the texts of one of our messages, except its keys and the fields named in `words`, which programs read. A
    /// secret that happens to equal such a word must not change how the message is handled.
    pub fn mask_message(&self, message: &mut Value, words: &[&str]) {
        if self.is_empty() {
            return;
        }
        match message {
            Value::String(text) => self.mask_text(text),
            Value::Array(items) => items.iter_mut().for_each(|v| self.mask_message(v, &[])),
            Value::Object(map) => {
                for (_, value) in map.iter_mut().filter(|(name, _)| !words.contains(&name.as_str())) {
                    self.mask_message(value, &[]);
                }
            }
            _ => {}
        }
    }

    fn mask_text(&self, text: &mut String) {
        if let Cow::Owned(masked) = self.mask(text) {
            *text = masked;
        }
    }

    /// The number of bytes at the end of a text that may be the start of a secret that was cut off.
    pub fn begun(&self, text: &[u8]) -> usize {
        let most = text.len().min(self.longest().saturating_sub(1));
        let begins = |rest: &[u8]| self.values.iter().any(|v| v.len() > rest.len() && v.starts_with(rest));
        (1..=most).rev().find(|len| begins(&text[text.len() - len..])).unwrap_or(0)
    }

    /// The number of bytes at the start of a text that may be the end of a secret that was cut off.
    pub fn ended(&self, text: &[u8]) -> usize {
        let most = text.len().min(self.longest().saturating_sub(1));
        let ends = |rest: &[u8]| self.values.iter().any(|v| v.len() > rest.len() && v.ends_with(rest));
        (1..=most).rev().find(|len| ends(&text[..*len])).unwrap_or(0)
    }

    fn longest(&self) -> usize {
        self.values.first().map_or(0, Vec::len)
    }

    /// A masker of one stream.
    pub fn stream(&self) -> Masker {
        Masker { secrets: self.clone(), held: Vec::new() }
    }
}

/// A value in JSON's notation, without the quotes.
fn in_json(value: &str) -> String {
    serde_json::to_string(value).unwrap_or_default().trim_matches('"').to_owned()
}

/// Masks a stream of chunks. It holds back only what may be the start of a secret.
#[derive(Clone, Debug)]
pub struct Masker {
    secrets: Secrets,
    held: Vec<u8>,
}

impl Masker {
    /// Adds a chunk, and returns what can be shown now.
    pub fn push<'a>(&mut self, chunk: &'a [u8]) -> Cow<'a, [u8]> {
        let Some(pattern) = self.secrets.pattern.clone() else { return Cow::Borrowed(chunk) };
        self.held.extend_from_slice(chunk);
        let edge = self.edge();
        let mut out = Vec::with_capacity(self.held.len());
        let mut done = 0;
        for found in pattern.find_iter(&self.held) {
            // A longer secret may begin at the same place, so the match waits for the next chunk.
            if found.start() >= edge {
                break;
            }
            out.extend_from_slice(&self.held[done..found.start()]);
            out.extend_from_slice(MASK.as_bytes());
            done = found.end();
        }
        if edge > done {
            out.extend_from_slice(&self.held[done..edge]);
            done = edge;
        }
        self.held.drain(..done);
        Cow::Owned(out)
    }

    /// Returns the rest at the end of the stream.
    pub fn finish(&mut self) -> Vec<u8> {
        let rest = std::mem::take(&mut self.held);
        match &self.secrets.pattern {
            Some(pattern) => pattern.replace_all(&rest, MASK.as_bytes()).into_owned(),
            None => rest,
        }
    }

    /// The first position from which everything held back is the start of a secret.
    fn edge(&self) -> usize {
        self.held.len() - self.secrets.begun(&self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environ::Variables;
    use std::sync::Arc;

    #[test]
    fn the_secrets_are_those_of_the_environment_as_it_is_now() {
        let masked = |value: &str| {
            let variables = Variables::from([("MY_KEY".into(), value.into())]);
            let secrets = Secrets::of(&Environment::from(Arc::new(variables)));
            secrets.mask("first-one second-one").into_owned()
        };
        for _ in 0..2 {
            assert_eq!(masked("first-one"), "*** second-one");
            assert_eq!(masked("second-one"), "first-one ***");
        }
    }
}

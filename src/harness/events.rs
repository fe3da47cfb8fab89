//! Finds events on a line that is not plain JSON: removes what a hook or a terminal printed around them, and reports an
//! event that is unreadable.

use super::end_text::cut;
use crate::prompt::head;
use crate::tolerant::{self, EVENT};
use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;

/// Maximum length of the quoted start of a line, in characters.
const MAX_QUOTED: usize = 120;
/// Maximum number of braces that are tried as the start of an object.
const MAX_BRACES: usize = 16;

#[derive(Debug, Default)]
pub struct Extracted {
    /// Each event as strict JSON, without duplicate keys.
    pub events: Vec<String>,
    /// The unreadable event, if there is one.
    pub unread: Option<Unread>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The event's type, if it can be read.
    pub kind: String,
    /// The event's keys, as far as they can be read.
    keys: Vec<String>,
    /// Why it is unreadable, with the start of the line.
    pub why: String,
}

impl Unread {
    pub fn has(&self, keys: &[&str]) -> bool {
        self.keys.iter().any(|key| keys.contains(&key.as_str()))
    }
}

/// What is left of a line once its events are read.
pub enum Rest {
    Nothing,
    /// An event that is unreadable.
    Unread(Unread),
    /// The line has no event.
    Text,
}

/// Passes the events of a line to `event` as JSON: the whole line, or the events inside of other text. `event` returns
/// false for JSON that is no event.
pub fn read(line: &str, mut event: impl FnMut(&str) -> bool) -> Rest {
    if event(line) {
        return Rest::Nothing;
    }
    let found = extract(line);
    for json in &found.events {
        event(json);
    }
    match found.unread {
        Some(unread) => Rest::Unread(unread),
        None if found.events.is_empty() => Rest::Text,
        None => Rest::Nothing,
    }
}

/// Finds the events on a line.
fn extract(line: &str) -> Extracted {
    if !line.contains('{') {
        return Extracted::default();
    }
    let (found, torn) = tolerant::objects(line, EVENT);
    let event = |json: &String| {
        // The last of duplicate keys wins, here and in all later code.
        let value: Value = serde_json::from_str(json).ok()?;
        (value.get("type").is_some_and(Value::is_string) || value.get("superpower").is_some())
            .then(|| value.to_string())
    };
    let (mut events, mut rest) = (Vec::new(), 0);
    for it in &found {
        // A "type" before this object belongs to a damaged event, which this object is only a part of.
        if line[rest..it.range.start].contains("\"type\"") {
            break;
        }
        rest = it.range.end;
        events.extend(event(&it.json));
    }
    let rest = &line[rest..];
    let why = torn.map_or_else(|| "damaged".to_owned(), |damage| damage.what.to_owned());
    let unread = unread(rest, &why).filter(|unread| !unread.kind.is_empty());
    Extracted { events, unread }
}

/// An event that is cut off or contains something else than JSON.
pub fn unread(line: &str, why: &str) -> Option<Unread> {
    static KIND: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#""type"\s*:\s*"([\w.-]+)"#).expect("a constant pattern"));
    let outlines = line.match_indices('{').take(MAX_BRACES).map(|(at, _)| tolerant::outline(&line[at..]));
    let outlines: Vec<_> = outlines.filter(|outline| !outline.is_empty()).collect();
    let typed = outlines.iter().find(|outline| outline.iter().any(|(key, _)| key == "type"));
    // The outermost object comes first, even if its type is in the part that was dropped.
    let outline = outlines.first().filter(|first| first.len() > 1).or(typed).or(outlines.first())?;
    let own = outline.iter().find(|(key, _)| key == "type").and_then(|(_, kind)| kind.clone());
    // The type may also follow the damaged part.
    let said = || KIND.captures(line).map(|found| found[1].to_owned());
    let kind = own.or_else(said).unwrap_or_default();
    let begin = tolerant::bare(head(line, 8 * MAX_QUOTED));
    let begin = cut(begin.trim(), MAX_QUOTED);
    let keys = outline.iter().map(|(key, _)| key.clone()).collect();
    Some(Unread { kind, keys, why: format!("{why}: {begin}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_found_whatever_is_printed_around_them() {
        let event = r#"{"type":"result","result":"done"}"#;
        for line in [
            format!("\u{1b}]0;work\u{7}{event}"),
            format!("bye from a hook{event}"),
            format!("{event} $ "),
            format!("\u{feff}{event}\r"),
            format!("{{}} {{x}} {event}"),
            event.replace("done", "do\u{1}ne").replace("do\u{1}ne", "done"),
        ] {
            assert_eq!(extract(&line).events, [event], "{line:?}");
            assert_eq!(extract(&line).unread, None, "{line:?}");
        }
        let two = extract(&format!("{event}{event}"));
        assert_eq!(two.events.len(), 2, "without a line break between them");
        assert_eq!(extract(r#"{"type":"a","type":"b","n":1e999,}"#).events, [r#"{"type":"b","n":1e+999}"#]);
    }

    #[test]
    fn an_unreadable_event_is_reported_with_its_type() {
        let unread = |line: &str| extract(line).unread.expect("an event");
        let torn = unread(r#"noise {"type":"result","result":"do"#);
        assert_eq!(
            (&*torn.kind, &*torn.why),
            ("result", r#"unexpected end: noise {"type":"result","result":"do"#)
        );
        assert_eq!(unread(r#"{"num_turns":1,"type":"result","result":do}"#).kind, "result");
        let last = extract(r#"{"type":"user"}{"type":"result","x":"#);
        assert_eq!((last.events.len(), &*last.unread.unwrap().kind), (1, "result"));
    }

    #[test]
    fn other_text_is_not_an_event() {
        let inside = r#"{"x":1 "type":"text","part":{"type":"text","text":"FAIL"}}"#;
        assert_eq!((extract(inside).events.len(), &*extract(inside).unread.unwrap().kind), (0, "text"));
        for line in ["hello", "{}", "{\"a\":1}", "fn main() {", "see {\"type\" of it}", "[1,2]"] {
            let found = extract(line);
            assert!(found.events.is_empty(), "{line}");
        }
        assert_eq!(extract("fn main() {").unread, None);
    }
}

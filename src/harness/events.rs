//! Events on a line that the strict reader refuses: what a hook or a terminal put around them is cut off, and a line that
//! holds an event which cannot be read is named.

use super::end_text::cut;
use crate::prompt::head;
use crate::tolerant::{self, EVENT};
use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;

/// The longest beginning of a line that is shown.
const SHOWN: usize = 120;
/// How many braces are tried where none begins an object.
const BRACES: usize = 16;

/// What a line holds.
#[derive(Debug, Default)]
pub struct Heard {
    /// Its events, each as strict JSON with every key once.
    pub events: Vec<String>,
    /// The event in it that cannot be read.
    pub unread: Option<Unread>,
}

/// An event that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// What kind of event it is, as far as it says so.
    pub kind: String,
    /// Its keys, as far as they can be read.
    keys: Vec<String>,
    /// Why it cannot, and how the line begins.
    pub why: String,
}

impl Unread {
    /// Whether it has one of these keys.
    pub fn has(&self, keys: &[&str]) -> bool {
        self.keys.iter().any(|key| keys.contains(&key.as_str()))
    }
}

/// Looks for the events of a line.
pub fn heard(line: &str) -> Heard {
    if !line.contains('{') {
        return Heard::default();
    }
    let (found, torn) = tolerant::objects(line, EVENT);
    let event = |json: &String| {
        // Of a key that comes twice, the last one counts from here on.
        let value: Value = serde_json::from_str(json).ok()?;
        (value.get("type").is_some_and(Value::is_string) || value.get("superpower").is_some())
            .then(|| value.to_string())
    };
    let (mut events, mut rest) = (Vec::new(), 0);
    for it in &found {
        // What says its type before it is an event itself, and damaged: this is only a part of that.
        if line[rest..it.range.start].contains("\"type\"") {
            break;
        }
        rest = it.range.end;
        events.extend(event(&it.json));
    }
    let rest = &line[rest..];
    let why = torn.map_or_else(|| "it is damaged".to_owned(), |damage| damage.what.to_owned());
    let unread = unread(rest, &why).filter(|unread| !unread.kind.is_empty());
    Heard { events, unread }
}

/// An event that is cut off, or has something in it that is no JSON.
pub fn unread(line: &str, why: &str) -> Option<Unread> {
    static KIND: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#""type"\s*:\s*"([\w.-]+)"#).expect("a constant pattern"));
    let outlines = line.match_indices('{').take(BRACES).map(|(at, _)| tolerant::outline(&line[at..]));
    let outlines: Vec<_> = outlines.filter(|outline| !outline.is_empty()).collect();
    let typed = outlines.iter().find(|outline| outline.iter().any(|(key, _)| key == "type"));
    // An outermost one first, whose type may stand behind what was dropped.
    let outline = outlines.first().filter(|first| first.len() > 1).or(typed).or(outlines.first())?;
    let own = outline.iter().find(|(key, _)| key == "type").and_then(|(_, kind)| kind.clone());
    // Behind the damage it may say so still.
    let said = || KIND.captures(line).map(|found| found[1].to_owned());
    let kind = own.or_else(said).unwrap_or_default();
    let begin = tolerant::bare(head(line, 8 * SHOWN));
    let begin = cut(begin.trim(), SHOWN);
    let keys = outline.iter().map(|(key, _)| key.clone()).collect();
    Some(Unread { kind, keys, why: format!("{why}: {begin}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_read_whatever_stands_around_it() {
        let event = r#"{"type":"result","result":"done"}"#;
        for line in [
            format!("\u{1b}]0;work\u{7}{event}"),
            format!("bye from a hook{event}"),
            format!("{event} $ "),
            format!("\u{feff}{event}\r"),
            format!("{{}} {{x}} {event}"),
            event.replace("done", "do\u{1}ne").replace("do\u{1}ne", "done"),
        ] {
            assert_eq!(heard(&line).events, [event], "{line:?}");
            assert_eq!(heard(&line).unread, None, "{line:?}");
        }
        let two = heard(&format!("{event}{event}"));
        assert_eq!(two.events.len(), 2, "a line end was lost");
        assert_eq!(heard(r#"{"type":"a","type":"b","n":1e999,}"#).events, [r#"{"type":"b","n":1e+999}"#]);
    }

    #[test]
    fn an_event_that_cannot_be_read_is_named_with_what_is_known_of_it() {
        let unread = |line: &str| heard(line).unread.expect("an event");
        let torn = unread(r#"noise {"type":"result","result":"do"#);
        assert_eq!(
            (&*torn.kind, &*torn.why),
            ("result", r#"it breaks off: noise {"type":"result","result":"do"#)
        );
        assert_eq!(unread(r#"{"num_turns":1,"type":"result","result":do}"#).kind, "result");
        let last = heard(r#"{"type":"user"}{"type":"result","x":"#);
        assert_eq!((last.events.len(), &*last.unread.unwrap().kind), (1, "result"));
    }

    #[test]
    fn other_text_is_no_event() {
        let inside = r#"{"x":1 "type":"text","part":{"type":"text","text":"FAIL"}}"#;
        assert_eq!((heard(inside).events.len(), &*heard(inside).unread.unwrap().kind), (0, "text"));
        for line in ["hello", "{}", "{\"a\":1}", "fn main() {", "see {\"type\" of it}", "[1,2]"] {
            let heard = heard(line);
            assert!(heard.events.is_empty(), "{line}");
        }
        assert_eq!(heard("fn main() {").unread, None);
    }
}

//! Reads the verdict at the end of a message leniently. A verdict that cannot be read is never treated as missing.

use crate::lookalike;
use crate::prompt::tail;
use crate::tolerant::{self, PROSE};
use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;

/// The end of a message, in bytes, without colours and invisible characters.
const END: usize = 4 * 1024;
/// How far before the end the last object may begin, and how many braces without an object may be in between.
const BEFORE: usize = 256 * 1024;
const BRACES: usize = 64;
/// Limit of candidates among the braces that look open.
const MAX_OPEN: usize = 32;

/// The verdict at the end of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No verdict; the message may still mention one.
    None,
    Pass,
    /// `FAIL`, with the notes.
    Fail(Option<String>),
    /// `BLOCKED`, with the notes.
    Blocked(Option<String>),
    /// Another word, as written.
    Other(String),
    /// Text that begins like a verdict but cannot be read.
    Unreadable,
}

impl Verdict {
    /// The word of the verdict, if there is one.
    pub fn word(&self) -> Option<&str> {
        match self {
            Verdict::None | Verdict::Unreadable => None,
            Verdict::Pass => Some("PASS"),
            Verdict::Fail(_) => Some("FAIL"),
            Verdict::Blocked(_) => Some("BLOCKED"),
            Verdict::Other(word) => Some(word),
        }
    }

    /// Whether this is the verdict that a declaration names.
    pub fn is(&self, wanted: &str) -> bool {
        self.word().is_some_and(|word| plain(word) == plain(wanted))
    }
}

/// Finds the verdict at the end of a message: that of the last object which has one, whatever text follows.
pub fn verdict(message: &str) -> Verdict {
    let message = tolerant::bare(message.trim_end());
    let message = message.trim_end();
    let edge = message.len() - tail(message, END).len();
    let from = object_across(message, edge).unwrap_or(edge);
    let (found, _) = tolerant::objects(&message[from..], PROSE);
    let said = found.iter().rev().find_map(|object| {
        let value: Value = serde_json::from_str(&object.json).ok()?;
        Some((verdict_of(&value)?, from + object.range.start, from + object.range.end))
    });
    let (start, end) = said.as_ref().map_or((from, from), |(_, start, end)| (*start, *end));
    if has_verdict_key(&message[end..]) || is_inside(message, start) {
        return Verdict::Unreadable;
    }
    said.map_or(Verdict::None, |(verdict, ..)| verdict)
}

/// The start of an object that begins before the end part and ends in it.
fn object_across(message: &str, edge: usize) -> Option<usize> {
    let start = message.len() - tail(message, END + BEFORE).len();
    let end_of = |brace| tolerant::object_at(message, brace, PROSE).map(|object| object.range.end);
    // Try the braces that look open first, because there may be any number of others.
    let open = open(&message[start..edge], false).into_iter().take(MAX_OPEN).map(|brace| start + brace);
    if let Some(brace) = open.into_iter().find(|brace| end_of(*brace).is_some_and(|end| end > edge)) {
        return Some(brace);
    }
    let (mut at, mut tries) = (start, BRACES);
    while let Some(brace) = message[at..edge.max(at)].find('{').map(|brace| at + brace) {
        match end_of(brace) {
            Some(end) if end > edge => return Some(brace),
            Some(end) => at = end,
            None => {
                at = brace + 1;
                tries = tries.checked_sub(1)?;
            }
        }
    }
    None
}

/// Whether a position is inside text that begins like a verdict but cannot be read.
fn is_inside(message: &str, place: usize) -> bool {
    let near = (message.len() - tail(message, END + BEFORE).len()).min(place);
    // A readable object that ends before this position does not affect the end.
    let mut loose = message[..near].to_owned();
    let mut at = near;
    for object in tolerant::objects(&message[near..place], PROSE).0 {
        loose.push_str(&message[at..near + object.range.start]);
        at = near + object.range.end;
    }
    loose.push_str(&message[at..place]);
    [false, true]
        .iter()
        .any(|texts| open(&loose, *texts).first().is_some_and(|brace| has_verdict_key(&loose[*brace..])))
}

/// The unclosed braces in a text. With `texts`, braces in quoted strings are ignored.
fn open(text: &str, texts: bool) -> Vec<usize> {
    let mut open = Vec::new();
    let mut quote = None;
    let mut before = ' ';
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match (quote, letter) {
            (Some(_), '\\') => _ = letters.next(),
            (Some(mark), _) if mark == letter => {
                // In a badly escaped string, a quote may or may not end it.
                let rest = text[at + 1..].trim_start();
                if rest.is_empty() || rest.starts_with([',', '}', ']', ':']) {
                    quote = None;
                }
            }
            (Some(_), _) => {}
            (None, '"' | '\'') if texts && matches!(before, '{' | '[' | ':' | ',') => quote = Some(letter),
            (None, '{') => open.push(at),
            (None, '}') => _ = open.pop(),
            (None, _) => {}
        }
        if !letter.is_whitespace() {
            before = letter;
        }
    }
    open
}

/// Whether a text contains the key `verdict`, in any quotes and followed by a colon.
fn has_verdict_key(text: &str) -> bool {
    static KEY: LazyLock<Regex> = LazyLock::new(|| {
        let quote = r#"(?:\\*["'`“”„‟‘’‚«»″〝〞]|&quot;)"#;
        let marks = r"(?:[\s*_`]|/\*[^*]*\*/)*";
        let pattern = format!(r"(?i)(?:{quote}{marks}verdict{marks}{quote}|[{{,]{marks}verdict){marks}:");
        Regex::new(&pattern).expect("a constant pattern")
    });
    // Replace characters that only look like those of JSON.
    let mut folded = String::with_capacity(text.len());
    for letter in text.chars() {
        match lookalike::meant(letter) {
            Some(meant) => folded.push_str(meant),
            None => folded.push(letter),
        }
    }
    KEY.is_match(&folded)
}

/// The verdict of an object: its own, or else that of the last object in it.
fn verdict_of(value: &Value) -> Option<Verdict> {
    match value {
        Value::Object(object) => {
            let own = object.iter().rev().find(|(key, _)| plain(key) == "VERDICT");
            let note = || {
                let keys = ["notes", "reason", "message", "summary"];
                let text = keys.iter().find_map(|key| object.get(*key)?.as_str())?;
                Some(text.to_owned()).filter(|text| !text.trim().is_empty())
            };
            own.map(|(_, word)| match (word.as_str().map(plain).as_deref(), word) {
                (Some("PASS"), _) => Verdict::Pass,
                (Some("FAIL"), _) => Verdict::Fail(note()),
                (Some("BLOCKED"), _) => Verdict::Blocked(note()),
                (_, Value::String(word)) => Verdict::Other(word.trim().to_owned()),
                (_, other) => Verdict::Other(other.to_string()),
            })
            .or_else(|| object.values().rev().find_map(verdict_of))
        }
        Value::Array(items) => items.iter().rev().find_map(verdict_of),
        _ => None,
    }
}

/// Normalizes a word: removes emphasis and the full stop, and converts to upper case; `PASSED` and `FAILED` become
/// `PASS` and `FAIL`. Other signs may change the meaning and stay, so `PASS?` is not `PASS`.
fn plain(word: &str) -> String {
    let emphasis = |c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`' | '"' | '\'' | '.');
    let word = word.trim_matches(emphasis).to_uppercase();
    match word.as_str() {
        "PASSED" => "PASS".to_owned(),
        "FAILED" => "FAIL".to_owned(),
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str) -> Option<String> {
        verdict(text).word().map(str::to_owned)
    }

    #[test]
    fn verdicts_are_read_in_every_form_that_models_print() {
        for form in [
            "{\"verdict\": \"FAIL\"}",
            "\u{1b}[31m{\"verdict\": \"FAIL\"}\u{1b}[0m",
            "{\"verdict\": \"FAIL\"}\n\u{1b}[0m",
            "{\"verdict\": \"\u{1b}[1mFAIL\u{1b}[0m\"}",
            "~~~json\n{\"verdict\": \"FAIL\"}\n~~~",
            "````\n{\"verdict\": \"FAIL\"}\n````\n",
            "**{\"verdict\": \"FAIL\"}**",
            "`{\"verdict\":\"FAIL\"}`",
            "{**\"verdict\"**: **\"FAIL\"**}",
            "{\"verdict\": \"**FAIL**\"}",
            "{\"verdict\": \"fail\"}",
            "{\"Verdict\": \"Failed\"}",
            "{\"verdict\": \"FAILED.\"}",
            "\u{feff}{\u{200b}\"verdict\u{200b}\": \"FA\u{200d}IL\"\u{2060}}",
            "{\"verdict\": \"FAIL\", \"notes\": \"a\tb\nc\"}",
            "{\"verdict\": \"FAIL\", \"notes\": \"\\ud83d\"}",
            "{\"verdict\": \"FAIL\", \"issues\": [1, 2,],}",
            "{\n  \"verdict\": \"FAIL\", // no\n}",
            "{\"verdict\":\"PASS\",\"verdict\":\"FAIL\"}",
            "{\"verdict\": \"FAIL\"}\r\n",
            "{\"verdict\": \"FAIL\"} is what I would say. Ask me if {that} is unclear.",
            "{\"verdict\": \"PASS\"}\nno:\n{\"verdict\": \"FAIL\"}",
            "{\"review\": {\"verdict\": \"FAIL\"}}",
            "[{\"verdict\": \"FAIL\"}]",
            "{\"verdict\": \"FAIL\", \"before\": {\"verdict\": \"PASS\"}}",
        ] {
            assert_eq!(word(&format!("Report.\n\n{form}")), Some("FAIL".into()), "{form:?}");
        }
    }

    #[test]
    fn an_unreadable_verdict_is_not_a_missing_one() {
        for form in [
            "{\"verdict\": \"FAIL\"",
            "{\"verdict\": FAIL}",
            "\"verdict\": \"FAIL\"",
            "{'verdict': 'FAIL'}",
            "{“verdict”: “FAIL”}",
            "{\\\"verdict\\\": \\\"FAIL\\\"}",
            "{\"verdict\" : \"FAIL",
            "{\"verdict\": \"PASS\"}\n{\"verdict\": \"FA",
            "\"verdict\"：\"FAIL\"",
            "{\"verdict\"∶ \"FAIL\"}",
            "{\"verdict\"﹕ \"FAIL\"}",
            "{″verdict″: ″FAIL″}",
            "{＇verdict＇: ＇FAIL＇}",
            "{\"ｖerdict\": \"FAIL\"",
            "{\"verdict\" /* x */: \"FAIL\"",
            "{verdict: \"FAIL\"}",
            "{`verdict`: `FAIL`}",
            "{&quot;verdict&quot;: &quot;FAIL&quot;}",
        ] {
            assert_eq!(verdict(&format!("Report.\n{form}")), Verdict::Unreadable, "{form:?}");
        }
        for word in ["PASS?", "!PASS", "~~PASS~~", "❌ PASS", "not PASS"] {
            assert_eq!(
                verdict(&format!("{{\"verdict\": \"{word}\"}}")),
                Verdict::Other(word.into()),
                "{word}"
            );
        }
        for (form, word) in [("\"MAYBE\"", "MAYBE"), ("true", "true"), ("null", "null"), ("\"\"", "")] {
            let read = verdict(&format!("{{\"verdict\": {form}}}"));
            assert_eq!(read, Verdict::Other(word.into()), "{form}");
        }
    }

    #[test]
    fn a_message_that_talks_about_a_verdict_has_none() {
        for text in [
            "no braces",
            "The \"verdict\" will follow.",
            "My verdict: PASS",
            "{\"a\": 1}",
            "",
            "**Verdict:** fail",
        ] {
            assert_eq!(verdict(text), Verdict::None, "{text:?}");
        }
    }

    #[test]
    fn the_end_of_a_message_is_its_last_4_kib() {
        let far = format!("{{\"verdict\": \"FAIL\"}}\n{}", "x".repeat(5000));
        assert_eq!(verdict(&far), Verdict::None);
        let near = format!("{{\"verdict\": \"FAIL\"}}\n{}", "x".repeat(4000));
        assert_eq!(word(&near), Some("FAIL".into()));
        // An object that ends in the end part counts as a whole.
        let issues = "{\"verdict\":\"PASS\",\"text\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxx\"},".repeat(200);
        let long = format!("{{\"verdict\":\"FAIL\",\"issues\":[{issues}]}}");
        assert_eq!(word(&format!("Report.\n{long}\n")), Some("FAIL".into()));
        let coloured = format!("{{\"verdict\": \"FAIL\"}}{}", "\u{1b}[0m".repeat(3000));
        assert_eq!(word(&coloured), Some("FAIL".into()), "invisible characters do not count");
    }

    /// An unreadable verdict counts, in any notation, if the object around it does not end before the message does.
    #[test]
    fn an_unreadable_verdict_counts_wherever_its_key_is() {
        let text = |len: usize| "some words, ".repeat(len / 12);
        for len in [5_000, 100_000, 300_000] {
            let long = text(len);
            for form in [
                format!("{{'verdict': 'FAIL', 'issues': ['{long}']}}"),
                format!("{{\"verdict\": FAIL, \"issues\": [\"{long}\"]}}"),
                format!("{{\"verdict\": \"FAIL\", \"issues\": [\"{long}"),
                format!("{{\"verdict\": \"FAIL\", \"issues\": [\"a \"quoted\" word, {long}\"]}}"),
                format!("{{\"verdict\": \"FAIL\", \"issues\": [\"a }} in it, \"so\", {long}\"]}}"),
                format!("{{'verdict': 'FAIL', 'issues': ['a }} in it, {long}']}}"),
                format!("{{'review': {{'verdict': 'FAIL'}}, 'issues': ['{long}']}}"),
                format!("{{'verdict': 'FAIL', 'issues': ['{long}'], 'before': {{\"verdict\": \"PASS\"}}}}"),
            ] {
                let shown = &form[..60];
                assert_eq!(verdict(&format!("Report.\n{form}\n")), Verdict::Unreadable, "{len}: {shown}");
            }
        }
        let long = text(300_000);
        let far = verdict(&format!("{{\"verdict\": \"FAIL\", \"issues\": [\"{long}\"]}}"));
        assert_eq!(far, Verdict::Unreadable, "longer than the searched part");
    }

    #[test]
    fn braces_before_it_do_not_hide_a_long_verdict() {
        let code = "fn a() { b() }\nif { ".repeat(300) + &"}".repeat(300);
        let issues = "\"some words\",".repeat(500);
        for word in ["PASS", "FAIL"] {
            let long = format!("{code}\n{{\"verdict\":\"{word}\",\"issues\":[{issues}]}}");
            assert_eq!(verdict(&long).word(), Some(word));
        }
    }

    #[test]
    fn an_unreadable_object_that_ends_early_is_ignored() {
        let prose = "some words, ".repeat(500);
        for form in [
            "{'verdict': 'FAIL'}",
            "{\"verdict\": FAIL}",
            "I will end with \"verdict\": \"FAIL\"",
            "{verdict: x} {",
        ] {
            assert_eq!(verdict(&format!("{form}\n{prose}")), Verdict::None, "{form}");
            let passes = format!("{form}\n{prose}{{\"verdict\": \"PASS\"}}");
            assert_eq!(verdict(&passes), Verdict::Pass, "{form}");
        }
    }

    #[test]
    fn a_hostile_message_is_read_in_time() {
        let text = "{\"a\":[".repeat(100_000) + "{\"verdict\":\"FAIL\"}";
        assert_ne!(verdict(&text), Verdict::None);
    }
}

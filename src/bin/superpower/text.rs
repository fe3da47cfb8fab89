//! Text for a terminal: nothing in it controls the terminal or hides.

use serde_json::Value;
use superpower::hidden;
use superpower::terminal::visible;

/// The text as one line.
pub fn line(text: &str) -> String {
    let lines = text.split(['\r', '\n']).map(str::trim).filter(|line| !line.is_empty());
    visible(&lines.collect::<Vec<_>>().join(" ").replace('\t', " "))
}

/// The text with commands of the editor, as hints name them, in the words of this program where it has the verb.
pub fn hints(text: &str) -> String {
    let mut parts = text.split(":Superpower ");
    let mut said = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let verb = part.split(|at: char| !at.is_ascii_lowercase()).next().unwrap_or_default();
        let has = crate::verbs::VERBS.iter().any(|known| known.name == verb);
        said += if has { "superpower " } else { ":Superpower " };
        said += part;
    }
    said
}

/// The text as lines, with tabs expanded and without empty lines at its end.
pub fn lines(text: &str) -> Vec<String> {
    let text = text.replace("\r\n", "\n").replace('\t', "    ");
    text.trim_end().split('\n').map(visible).collect()
}

/// The beginning of a text that fits into this many columns. What is not ASCII counts as two.
pub fn fit(text: &str, columns: usize) -> String {
    let columns_of = |letter: char| if letter.is_ascii() { 1 } else { 2 };
    if text.chars().map(columns_of).sum::<usize>() <= columns {
        return text.to_owned();
    }
    let mut left = columns.saturating_sub(2);
    let fits = |letter: &char| {
        let fits = left >= columns_of(*letter);
        left = left.saturating_sub(columns_of(*letter));
        fits
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// Wraps the text at words.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// An age: `12s`, `3m`, `2h`, `5 days`.
pub fn age(ms: i64) -> String {
    match ms.max(0) / 1000 {
        seconds @ 0..60 => format!("{seconds}s"),
        seconds @ 60..3600 => format!("{}m", seconds / 60),
        seconds if seconds < 48 * 3600 => format!("{}h", seconds / 3600),
        seconds => format!("{} days", seconds / 86400),
    }
}

/// A text of a value, empty where it is none.
pub fn of<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A number of a value, 0 where it is none.
pub fn number(value: &Value, key: &str) -> i64 {
    value.get(key).and_then(Value::as_i64).unwrap_or_default()
}

/// JSON on one line, in which control characters and hidden ones are escapes.
pub fn json(value: &Value) -> String {
    let mut out = String::new();
    for letter in value.to_string().chars() {
        let control = letter == '\u{7f}' || ('\u{80}'..='\u{9f}').contains(&letter);
        if control || hidden::name(letter).is_some() {
            let mut units = [0; 2];
            out.extend(letter.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(letter);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn hints_name_the_verbs_of_this_program() {
        assert_eq!(hints("a: :Superpower resume"), "a: superpower resume");
        assert_eq!(hints(":Superpower gate or :Superpower runs"), ":Superpower gate or superpower runs");
    }

    #[test]
    fn nothing_controls_the_terminal() {
        assert_eq!(line("a\tb  \r\n c\x1b[2J\n"), "a b c^[[2J");
        assert_eq!(lines("a\tb\r\nc\u{202e}\n\n"), ["a    b", "c<202e>"]);
        let shown = json(&json!({ "a": "x\u{202e}y\u{9b}z\u{1b}\u{e0041}" }));
        assert_eq!(shown, r#"{"a":"x\u202ey\u009bz\u001b\udb40\udc41"}"#);
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap()["a"], "x\u{202e}y\u{9b}z\u{1b}\u{e0041}");
    }

    #[test]
    fn what_is_cut_never_fills_more_than_its_columns() {
        assert_eq!(fit("abcdef", 6), "abcdef");
        assert_eq!(fit("abcdefg", 6), "abcd…");
        assert_eq!(fit("日本語", 6), "日本語");
        assert_eq!(fit("日本語字", 7), "日本…");
    }

    #[test]
    fn words_are_wrapped_and_ages_are_short() {
        assert_eq!(wrap("one two  three", 7), ["one two", "three"]);
        assert_eq!([0, 61_000, 7_300_000, 400_000_000].map(age), ["0s", "1m", "2h", "4 days"]);
    }
}

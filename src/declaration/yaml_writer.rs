//! How a value is written into a declaration: by a fix, a completion, a rename or a scaffold.
//!
//! Two libraries know the rules. The YAML writer says whether a text can stand without quotes; but it has no way to ask
//! for quotes, it writes a text of several lines as a block, and it knows nothing of the brackets around it. So what must
//! be quoted is written as JSON, which is YAML.

use super::scalar::{Core, core, other_reading};
use crate::lookalike;

/// `text` as a quoted scalar on one line.
pub fn quoted(text: &str) -> String {
    match inside(text, '\'') {
        Some(inner) if text.contains(['"', '\\']) => format!("'{inner}'"),
        _ => format!("\"{}\"", escaped(text)),
    }
}

/// `text` as a plain scalar where that reads back as the same text everywhere, else quoted.
pub fn plain_or_quoted(text: &str) -> String {
    if stands_plain(text, true) { text.to_owned() } else { quoted(text) }
}

/// What stands for `text` between two of these quotes; none where these cannot hold it.
pub fn inside(text: &str, quote: char) -> Option<String> {
    match quote {
        '"' => Some(escaped(text)),
        _ => (!text.contains(is_escaped)).then(|| text.replace('\'', "''")),
    }
}

/// Whether `text` without quotes is that text to us and to readers of YAML 1.1; `flow` in brackets too.
pub fn stands_plain(text: &str, flow: bool) -> bool {
    core(text) == Core::Text
        && other_reading(text).is_none()
        && !text.contains(is_escaped)
        // These are blanks to people, and are looked for where YAML would have one.
        && !text.contains(lookalike::is_blank)
        && !(flow && is_split_by_brackets(text))
        && serde_yaml::to_string(text).is_ok_and(|written| written.strip_suffix('\n') == Some(text))
}

/// Whether brackets around it change what it is, to one reader or another.
fn is_split_by_brackets(text: &str) -> bool {
    let joins = |after: &str| after.starts_with(|c: char| c.is_alphanumeric() || c == '/');
    text.contains([',', '[', ']', '{', '}'])
        || text.starts_with([':', '?', '-'])
        || text.match_indices(':').any(|(at, _)| !joins(&text[at + 1..]))
}

/// What is written with a backslash: control characters, and what some readers take for the end of a line or drop.
fn is_escaped(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn escaped(text: &str) -> String {
    let json = serde_json::Value::from(text).to_string();
    let inner = &json[1..json.len() - 1];
    // JSON leaves these as they are.
    let mut out = String::with_capacity(inner.len());
    for c in inner.chars() {
        if is_escaped(c) { out += &format!("\\u{:04x}", u32::from(c)) } else { out.push(c) }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_those_that_need_the_fewest_signs() {
        for (text, expected) in [
            ("a: b", "\"a: b\""),
            ("say \"hi\"", "'say \"hi\"'"),
            ("it's", "\"it's\""),
            ("both ' and \"", "'both '' and \"'"),
            ("C:\\dir", "'C:\\dir'"),
            ("tab\t\"x\"", "\"tab\\t\\\"x\\\"\""),
            ("ä𝄞\u{85}\u{2028}\u{7f}", "\"ä𝄞\\u0085\\u2028\\u007f\""),
            ("", "\"\""),
        ] {
            assert_eq!(quoted(text), expected);
        }
    }

    #[test]
    fn what_can_stand_plain_does() {
        for plain in ["human-approval", "docs/a b.md", "it's", "1.0.0", "nul", "a:b", "a#b", "日本"] {
            assert_eq!(plain_or_quoted(plain), plain);
        }
        for text in
            ["no", "null", "~", "1e3", "0x1f", "012", "2024-01-01", "a, b", "a: b", "a #b", "- a", "x "]
        {
            assert_eq!(plain_or_quoted(text), quoted(text));
        }
    }
}

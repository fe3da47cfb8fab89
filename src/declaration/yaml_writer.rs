//! Writes values into a declaration, for fixes, completion, renames and scaffolds.
//!
//! Two libraries know the rules. The YAML writer decides whether a text can be written without quotes; but it cannot be
//! asked for quotes, writes a text of several lines as a block, and knows nothing of brackets around it. So texts that
//! need quotes are written as JSON, which is valid YAML.

use super::scalar::{Core, core, other_reading};
use crate::lookalike;

/// `text` as a quoted scalar on one line.
pub fn quoted(text: &str) -> String {
    match inside(text, '\'') {
        Some(inner) if text.contains(['"', '\\']) => format!("'{inner}'"),
        _ => format!("\"{}\"", escaped(text)),
    }
}

/// `text` as a plain scalar if every reader reads it back as the same text, else quoted.
pub fn plain_or_quoted(text: &str) -> String {
    if is_plain_safe(text, true) { text.to_owned() } else { quoted(text) }
}

/// The content of `text` between these quotes; none if these quotes cannot contain it.
pub fn inside(text: &str, quote: char) -> Option<String> {
    match quote {
        '"' => Some(escaped(text)),
        _ => (!text.contains(is_escaped)).then(|| text.replace('\'', "''")),
    }
}

/// Whether unquoted `text` is the same text to us and to YAML 1.1 readers, inside brackets if `flow` is set.
pub fn is_plain_safe(text: &str, flow: bool) -> bool {
    core(text) == Core::Text
        && other_reading(text).is_none()
        && !text.contains(is_escaped)
        // These look like blanks, and a reader of the file would take them for YAML's.
        && !text.contains(lookalike::is_blank)
        && !(flow && is_split_by_brackets(text))
        && serde_yaml::to_string(text).is_ok_and(|written| written.strip_suffix('\n') == Some(text))
}

/// Whether brackets around it change its meaning for some reader.
fn is_split_by_brackets(text: &str) -> bool {
    let joins = |after: &str| after.starts_with(|c: char| c.is_alphanumeric() || c == '/');
    text.contains([',', '[', ']', '{', '}'])
        || text.starts_with([':', '?', '-'])
        || text.match_indices(':').any(|(at, _)| !joins(&text[at + 1..]))
}

/// Characters that are escaped: control characters, and those that some readers treat as a line break or drop.
fn is_escaped(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn escaped(text: &str) -> String {
    let json = serde_json::Value::from(text).to_string();
    let inner = &json[1..json.len() - 1];
    // JSON does not escape these.
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
    fn the_quotes_with_the_fewest_escapes_are_used() {
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
    fn safe_texts_are_written_without_quotes() {
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

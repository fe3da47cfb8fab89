//! Guesses for texts that need quotes, or have too few or too many.

use super::guess::Guess;
use crate::declaration::line::{Line, quoted_length};
use crate::declaration::yaml_writer::quoted;

/// The message for an unquoted `{{x}}`.
pub const BARE_TEMPLATE: &str = "a value that starts with \"{{\" needs quotes: without them it is a mapping";

/// A guess that puts `range` in quotes.
pub fn quote(text: &str, range: (usize, usize), message: String) -> Guess {
    let value = &text[range.0..range.1];
    let mut edits = Vec::new();
    if value.contains(['"', '\\']) {
        edits.push((range.0, range.0, "'".to_owned()));
        edits.extend(value.match_indices('\'').map(|(at, _)| (range.0 + at, range.0 + at, "'".to_owned())));
        edits.push((range.1, range.1, "'".to_owned()));
    } else {
        edits.push((range.0, range.0, "\"".to_owned()));
        edits.push((range.1, range.1, "\"".to_owned()));
    }
    Guess {
        span: range,
        message,
        title: "put it in quotes".to_owned(),
        edits,
        shown: Some(vec![(range.0, range.1, quoted(value))]),
        also: Vec::new(),
    }
}

/// The guesses for this line that add or fix quotes.
pub fn guesses(text: &str, line: &Line, found: &mut Vec<Guess>) {
    let Some(value) = line.value else { return };
    let (start, end) = value;
    let written = &text[start..end];
    match written.chars().next() {
        Some('"' | '\'') => in_quotes(text, value, found),
        Some('[' | '{') => {
            if written.starts_with("{{") {
                found.push(quote(text, value, BARE_TEMPLATE.to_owned()));
            }
            bare_in_brackets(text, value, found);
        }
        Some('|' | '>') if written.len() <= 3 => {}
        Some('|' | '>') => found.push(indicator(text, value)),
        Some('%') if start == line.start => {}
        Some('@' | '`' | '%' | '&' | '*' | '!' | ']' | '}' | ',' | '?') => found.push(indicator(text, value)),
        _ => {}
    }
    let plain = !written.starts_with(['"', '\'', '[', '{', '|', '>']);
    if plain && (written.contains(": ") || written.ends_with(':')) && line.key.is_some() {
        let message = "a text that contains \": \" needs quotes".to_owned();
        found.push(quote(text, value, message));
    }
}

fn indicator(text: &str, value: (usize, usize)) -> Guess {
    let sign = text[value.0..].chars().next().unwrap_or(' ');
    quote(text, value, format!("a text that starts with \"{sign}\" needs quotes"))
}

/// `[{{x}}, y]` and `{a: {{x}}}`, if there is more than the braces between the commas.
fn bare_in_brackets(text: &str, (start, end): (usize, usize), found: &mut Vec<Guess>) {
    let written = &text[start..end];
    for (at, _) in written.match_indices("{{") {
        let before = written[..at].trim_end();
        if at == 0 || !before.ends_with([':', ',', '[']) {
            continue;
        }
        let Some(close) = written[at..].find("}}").map(|close| at + close + 2) else { continue };
        let length = written[close..].find([',', ']', '}']).unwrap_or(written.len() - close);
        let stop = close + written[close..close + length].trim_end().len();
        found.push(quote(text, (start + at, start + stop), BARE_TEMPLATE.to_owned()));
    }
}

fn in_quotes(text: &str, (start, end): (usize, usize), found: &mut Vec<Guess>) {
    let written = &text[start..end];
    let sign = if written.starts_with('"') { '"' } else { '\'' };
    if sign == '"' {
        escapes(text, (start, end), found);
    }
    match quoted_length(written) {
        Some(length) if length < written.len() => {
            let inner = written.strip_prefix(sign).unwrap_or(written);
            let inner = inner.strip_suffix(sign).unwrap_or(inner);
            found.push(Guess {
                span: (start, end),
                message: "the quoted text ends before the end of the value: put the whole value in quotes"
                    .to_owned(),
                title: "put the whole in quotes".to_owned(),
                edits: vec![(start, end, quoted(inner))],
                shown: None,
                also: Vec::new(),
            });
        }
        None => found.push(Guess {
            span: (start, end),
            message: format!("the closing {sign} is missing"),
            title: format!("add {sign}"),
            edits: vec![(end, end, sign.to_string())],
            shown: None,
            also: Vec::new(),
        }),
        _ => {}
    }
}

/// Backslashes in `"…"` that are not escapes. All of a line are fixed at once, because they are one mistake.
fn escapes(text: &str, (start, end): (usize, usize), found: &mut Vec<Guess>) {
    let written = &text[start..end];
    let mut wrong = Vec::new();
    let mut at = 1;
    while let Some(backslash) = written.get(at..).and_then(|rest| rest.find('\\')).map(|found| at + found) {
        let after = written[backslash + 1..].chars().next();
        let digits = match after {
            Some('x') => 2,
            Some('u') => 4,
            Some('U') => 8,
            Some(c) if "0abtnvfre \"/\\N_LP\t".contains(c) => 0,
            None => break,
            Some(_) => usize::MAX,
        };
        let hex = written[backslash + 1..].chars().skip(1).take_while(char::is_ascii_hexdigit).count();
        if digits == usize::MAX || hex < digits {
            wrong.push(start + backslash);
        }
        at = backslash + 1 + after.map_or(0, char::len_utf8);
    }
    let Some(&first) = wrong.first() else { return };
    let after = text[first + 1..].chars().next().unwrap_or(' ');
    found.push(Guess {
        span: (first, first + 1 + after.len_utf8()),
        message: format!("\"\\{after}\" is not an escape: write \"\\\\{after}\", or use single quotes"),
        title: "double the backslash".to_owned(),
        edits: wrong.into_iter().map(|at| (at, at, "\\".to_owned())).collect(),
        shown: None,
        also: Vec::new(),
    });
}

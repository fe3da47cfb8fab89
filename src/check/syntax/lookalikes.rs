//! Guesses for characters that look like YAML's signs: dashes, colons, quotes, brackets, commas, spaces, line breaks.

use super::guess::{Change, Guess};
use crate::declaration::keys::KEYS;
use crate::declaration::line::Line;
use crate::lookalike::{explained, is_blank, is_like, meant};
use crate::source::Span;

/// Maximum number of lines that one guess fixes: an unreadable line hides the next one from the parser.
const LINES: usize = 64;

/// Guesses for this line, together with the lines directly above that have the same problem.
pub fn guesses(text: &str, line: &Line, found: &mut Vec<Guess>) {
    let Some(mut first) = of_line(text, line) else { return };
    let mut at = line.clone();
    while first.also.len() < LINES {
        let Some(before) = at.before(text) else { break };
        let Some(guess) = of_line(text, &before) else { break };
        first.also.push(guess);
        at = before;
    }
    if !first.also.is_empty() {
        let alone = Guess { also: Vec::new(), ..first.clone() };
        found.push(first);
        found.push(alone);
    } else {
        found.push(first);
    }
}

/// All look-alikes of one line at once, reported at the first one.
pub fn of_line(text: &str, line: &Line) -> Option<Guess> {
    let mut edits = Vec::new();
    let inner = indentation(text, line, &mut edits);
    let value = key(text, inner, line.end, &mut edits);
    if let Some(value) = value.or(line.value.map(|value| value.0)) {
        of_value(text, value, line.end, &mut edits);
    }
    line_breaks(text, line, inner, &mut edits);
    edits.sort();
    edits.dedup_by_key(|edit| edit.0);
    let (start, ..) = *edits.first()?;
    let c = text[start..].chars().find(|c| meant(*c).is_some())?;
    let start = start + text[start..].find(c)?;
    let alike = edits.iter().all(|edit| edit.2 == edits[0].2);
    let title = match meant(c)? {
        _ if !alike => "replace the look-alikes on this line".to_owned(),
        "" => "remove it".to_owned(),
        " " => "replace it with a space".to_owned(),
        "\n" => "start a new line".to_owned(),
        sign => format!("change to {sign}"),
    };
    let span = (start, start + c.len_utf8());
    Some(Guess { span, message: explained(c), title, edits, shown: None, also: Vec::new() })
}

/// Fixes indentation and dashes. Returns where the key or value starts.
fn indentation(text: &str, line: &Line, edits: &mut Vec<Change>) -> usize {
    let mut at = line.start;
    while let Some(c) = text[at..line.end].chars().next() {
        let end = at + c.len_utf8();
        let next = text[end..line.end].chars().next();
        let spaced = next.is_none_or(|next| next.is_whitespace() || is_blank(next));
        match meant(c) {
            Some(" ") => edits.push((at, end, " ".to_owned())),
            Some("") => edits.push((at, end, String::new())),
            Some("-") if spaced || is_bullet(c) => {
                edits.push((at, end, if spaced { "-" } else { "- " }.to_owned()));
            }
            None if c == ' ' || c == '\t' || (c == '-' && spaced) => {}
            _ => break,
        }
        at = end;
    }
    at
}

/// A guess for `{epic:x}`, where the value is part of the key because no YAML space follows the colon.
pub fn tight_colon(text: &str, key: Span, gap: Span) -> Guess {
    let odd = text[gap.start..gap.end].char_indices().find(|(_, c)| is_blank(*c));
    let (span, message) = match odd {
        Some((at, c)) => ((gap.start + at, gap.start + at + c.len_utf8()), explained(c)),
        None => {
            let shown = &text[key.start..gap.start];
            ((key.start, gap.start), format!("a space is missing after \"{shown}\""))
        }
    };
    let title = if odd.is_some() { "replace it with a space" } else { "add a space" };
    let edits = vec![(gap.start, gap.end, " ".to_owned())];
    Guess { span, message, title: title.to_owned(), edits, shown: None, also: Vec::new() }
}

fn is_bullet(c: char) -> bool {
    matches!(c, '\u{2022}' | '\u{2023}' | '\u{25cf}' | '\u{25aa}' | '\u{25e6}' | '\u{2043}')
}

/// Fixes what is between a key and its value. Returns where the value starts, if there is a key.
fn key(text: &str, start: usize, end: usize, edits: &mut Vec<Change>) -> Option<usize> {
    let rest = &text[start..end];
    let in_word = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c) || is_like(c, "");
    let length = rest.len() - rest.trim_start_matches(in_word).len();
    let written = &rest[..length];
    let word: &str = &written.replace(|c| is_like(c, ""), "");
    if word != written && KEYS.iter().any(|key| key.name == word) {
        let hidden = written.char_indices().filter(|(_, c)| is_like(*c, ""));
        edits.extend(hidden.map(|(at, c)| (start + at, start + at + c.len_utf8(), String::new())));
    }
    if !word.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let gap = rest[length..].len() - rest[length..].trim_start_matches(|c| c == ' ' || is_blank(c)).len();
    let colon = start + length + gap;
    let c = text[colon..end].chars().next()?;
    let alike = is_like(c, ":");
    // In prose, such a colon may follow any word.
    if !(c == ':' || alike && KEYS.iter().any(|key| key.name == word)) {
        return None;
    }
    let after = colon + c.len_utf8();
    let blank =
        text[after..end].len() - text[after..end].trim_start_matches(|c| c == ' ' || is_blank(c)).len();
    let value = after + blank;
    let odd = |from: usize, to: usize| text[from..to].contains(is_blank);
    if odd(start + length, colon) {
        edits.push((start + length, colon, String::new()));
    }
    let space = if value == end { "" } else { " " };
    if alike {
        edits.push((colon, value, format!(":{space}")));
    } else if odd(after, value) {
        edits.push((after, value, space.to_owned()));
    }
    Some(value)
}

/// Fixes quotes around a value, and the signs of a list or mapping in brackets.
fn of_value(text: &str, start: usize, end: usize, edits: &mut Vec<Change>) {
    let value = text[start..end].trim_end_matches(|c: char| c == ' ' || is_blank(c));
    let Some(c) = value.chars().next() else { return };
    match meant(c) {
        Some(quote @ ("\"" | "'")) => {
            let inner = &value[c.len_utf8()..];
            let close = inner.char_indices().next_back();
            let closes = |at: usize, c: char| {
                (is_like(c, quote) || quote.starts_with(c))
                    && !inner[..at].contains(quote)
                    && !inner.contains('\\')
            };
            if let Some((at, close)) = close.filter(|&(at, c)| closes(at, c)) {
                let close_at = start + c.len_utf8() + at;
                edits.push((start, start + c.len_utf8(), quote.to_owned()));
                edits.push((close_at, close_at + close.len_utf8(), quote.to_owned()));
            }
        }
        Some("[" | "{") => in_brackets(value, start, edits),
        None if c == '[' || c == '{' => in_brackets(value, start, edits),
        _ => {}
    }
}

fn in_brackets(value: &str, start: usize, edits: &mut Vec<Change>) {
    let mut quote = None;
    for (at, c) in value.char_indices() {
        match (quote, meant(c)) {
            (Some(sign), None) if c == sign => quote = None,
            (Some(_), _) => {}
            (None, None) if c == '"' || c == '\'' => quote = Some(c),
            (None, Some(sign @ ("[" | "]" | "{" | "}" | "," | ":" | "\""))) => {
                let spaced = value[at + c.len_utf8()..].starts_with(' ') || !matches!(sign, "," | ":");
                let space = if spaced { "" } else { " " };
                edits.push((start + at, start + at + c.len_utf8(), format!("{sign}{space}")));
            }
            _ => {}
        }
    }
}

/// Fixes characters that look like a line break before a key.
fn line_breaks(text: &str, line: &Line, inner: usize, edits: &mut Vec<Change>) {
    for (at, c) in text[line.start..line.end].char_indices().filter(|(_, c)| is_like(*c, "\n")) {
        let at = line.start + at;
        let after = &text[at + c.len_utf8()..line.end];
        let word = &after[..after.find(':').unwrap_or(0)];
        let (dash, word) = word.trim_start().strip_prefix("- ").map_or((false, word), |word| (true, word));
        if KEYS.iter().any(|key| key.name == word.trim()) {
            let own = after.len() - after.trim_start_matches(' ').len();
            let column = if dash || own > 0 { 0 } else { inner - line.start };
            edits.push((at, at + c.len_utf8(), format!("\n{}", " ".repeat(column))));
        }
    }
}

//! Guesses what the author meant if YAML reads something else, or cannot read it.

use super::guess::Guess;
use super::{lookalikes, quotes};
use crate::declaration::keys::KEYS;
use crate::declaration::line::Line;
use crate::declaration::yaml::Stop;
use granit_parser::ErrorKind;

/// Maximum number of lines between a cause and its error: an open quote or bracket swallows what follows.
const LOOK_BACK: usize = 64;

/// The guesses, most likely first.
pub fn guesses(text: &str, stop: &Stop) -> Vec<Guess> {
    let here = Line::at(text, stop.offset);
    let mut found = Vec::new();
    if *stop.error.kind() == ErrorKind::BomInsideDocument && text[stop.offset..].starts_with('\u{feff}') {
        found.push(Guess {
            span: (stop.offset, stop.offset + '\u{feff}'.len_utf8()),
            message: "U+FEFF BYTE ORDER MARK is allowed only at the start of a file".to_owned(),
            title: "remove it".to_owned(),
            edits: vec![(stop.offset, stop.offset + '\u{feff}'.len_utf8(), String::new())],
            shown: None,
            also: Vec::new(),
        });
    }
    let after = here.after(text);
    let before = here.before(text);
    for line in [Some(&here), after.as_ref(), before.as_ref()].into_iter().flatten() {
        tabs(text, line, &mut found);
        if let Some(guess) = lookalikes::of_line(text, line).filter(|guess| guess.span.0 < line.indented) {
            found.push(guess);
        }
    }
    of_line(text, &here, &mut found);
    let mut line = here;
    for distance in 0..LOOK_BACK {
        let Some(before) = line.before(text) else { break };
        if distance < 2 {
            of_line(text, &before, &mut found);
        } else {
            // Further up, only what extends to this line matters.
            let mut all = Vec::new();
            quotes::guesses(text, &before, &mut all);
            brackets(text, &before, &mut all);
            found.extend(all.into_iter().filter(|guess| guess.title.starts_with("add ")));
        }
        line = before;
    }
    found
}

fn of_line(text: &str, line: &Line, found: &mut Vec<Guess>) {
    lookalikes::guesses(text, line, found);
    quotes::guesses(text, line, found);
    brackets(text, line, found);
    missing_space(text, line, found);
    missing_colon(text, line, found);
    list_after_key(text, line, found);
}

/// Tabs used as indentation. The whole file is fixed at once, because an editor put them everywhere.
fn tabs(text: &str, line: &Line, found: &mut Vec<Guess>) {
    let indentation = |line: &Line| text[line.start..line.inner].contains('\t');
    if !indentation(line) {
        return;
    }
    let first = line.start + text[line.start..line.inner].find('\t').unwrap_or(0);
    let run = text[first..line.inner].len() - text[first..line.inner].trim_start_matches('\t').len();
    for width in [2, 4, 8] {
        let mut edits = Vec::new();
        let mut start = 0;
        for piece in text.split_inclusive('\n') {
            let other = Line::at(text, start);
            if indentation(&other) {
                let tabs = text[other.start..other.inner].match_indices('\t');
                edits.extend(tabs.map(|(at, _)| (other.start + at, other.start + at + 1, " ".repeat(width))));
            }
            start += piece.len();
            if edits.len() > 2_000 {
                return;
            }
        }
        found.push(Guess {
            span: (first, first + run),
            message: format!(
                "tabs are not allowed as indentation (column {}): use spaces",
                first - line.start + 1
            ),
            title: format!("replace tabs in indentation with {width} spaces"),
            edits,
            shown: None,
            also: Vec::new(),
        });
    }
}

/// `[a, b` and `{a: b` that are not closed on their line, are closed by the wrong sign, or are followed by text.
fn brackets(text: &str, line: &Line, found: &mut Vec<Guess>) {
    let Some((start, end)) = line.value else { return };
    let written = &text[start..end];
    if !written.starts_with(['[', '{']) {
        return;
    }
    let mut open = Vec::new();
    let mut quote = None;
    for (at, c) in written.char_indices() {
        match (quote, c) {
            (Some(sign), c) if c == sign => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => open.push(c),
            (None, ',') if written[..at].trim_end().ends_with([',', '[', '{']) => {
                let gap = written[at + 1..].len() - written[at + 1..].trim_start().len();
                found.push(Guess {
                    span: (start + at, start + at + 1),
                    message: "a value is missing before this comma".to_owned(),
                    title: "remove it".to_owned(),
                    edits: vec![(start + at, start + at + 1 + gap, String::new())],
                    shown: None,
                    also: Vec::new(),
                });
            }
            (None, ']' | '}') => match open.pop() {
                Some(sign) if closing(sign) == c => {
                    if open.is_empty() && at + 1 < written.len() {
                        let message = format!("a text that starts with \"{}\" needs quotes", &written[..1]);
                        found.push(quotes::quote(text, (start, end), message));
                        return;
                    }
                }
                Some(sign) => {
                    let right = closing(sign).to_string();
                    found.push(Guess {
                        span: (start + at, start + at + 1),
                        message: format!("\"{sign}\" must be closed by \"{right}\", not by \"{c}\""),
                        title: format!("change to \"{right}\""),
                        edits: vec![(start + at, start + at + 1, right)],
                        shown: None,
                        also: Vec::new(),
                    });
                    return;
                }
                None => return,
            },
            _ => {}
        }
    }
    if !open.is_empty() && quote.is_none() {
        let missing: String = open.iter().rev().map(|sign| closing(*sign)).collect();
        let comma = written.len() - written.trim_end_matches([',', ' ']).len();
        found.push(Guess {
            span: (start, end),
            message: format!("\"{missing}\" is missing at the end"),
            title: format!("add {missing}"),
            edits: vec![(end - comma, end, missing)],
            shown: None,
            also: Vec::new(),
        });
    }
}

fn closing(sign: char) -> char {
    if sign == '[' { ']' } else { '}' }
}

/// Missing spaces, as in `agent:qa` and `-agent: qa`.
fn missing_space(text: &str, line: &Line, found: &mut Vec<Guess>) {
    let content = &text[line.inner..line.end];
    if line.key.is_none()
        && let Some(colon) = content.find(':').filter(|&colon| is_word(&content[..colon]))
    {
        let at = line.inner + colon + 1;
        found.push(Guess {
            span: (line.inner, at),
            message: format!("a space is missing after \"{}:\"", &content[..colon]),
            title: "add a space".to_owned(),
            edits: vec![(at, at, " ".to_owned())],
            shown: None,
            also: Vec::new(),
        });
    }
    let after = content.strip_prefix('-').filter(|rest| rest.starts_with(|c: char| c.is_alphabetic()));
    if after.is_some() {
        let at = line.inner + 1;
        found.push(Guess {
            span: (line.inner, at),
            message: "a space is missing after \"-\"".to_owned(),
            title: "add a space".to_owned(),
            edits: vec![(at, at, " ".to_owned())],
            shown: None,
            also: Vec::new(),
        });
    }
}

/// A missing colon, as in `gate human-approval`.
fn missing_colon(text: &str, line: &Line, found: &mut Vec<Guess>) {
    let content = &text[line.inner..line.end];
    let word = &content[..content.find(char::is_whitespace).unwrap_or(content.len())];
    if line.key.is_none() && is_word(word) && KEYS.iter().any(|key| key.name == word) {
        let at = line.inner + word.len();
        found.push(Guess {
            span: (line.inner, at),
            message: format!("\":\" is missing after \"{word}\""),
            title: "add \":\"".to_owned(),
            edits: vec![(at, at, ":".to_owned())],
            shown: None,
            also: Vec::new(),
        });
    }
}

/// A list directly after a key, as in `tags: - a`.
fn list_after_key(text: &str, line: &Line, found: &mut Vec<Guess>) {
    let Some((start, end)) = line.value.filter(|_| line.key.is_some()) else { return };
    if let Some(item) = text[start..end].strip_prefix("- ") {
        found.push(Guess {
            span: (start, end),
            message: "a list needs a line of its own, or \"[\" and \"]\" around it".to_owned(),
            title: "put it in brackets".to_owned(),
            edits: vec![(start, end, format!("[{}]", item.trim()))],
            shown: None,
            also: Vec::new(),
        });
    }
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

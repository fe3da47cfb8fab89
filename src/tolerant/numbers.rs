//! Numbers keep their text: `1e3` stays `1e3`.
//!
//! The JSON reader keeps every digit, but writes exponents in a form of its own (`1e+3`). So numbers with an exponent,
//! which are rare, go through it as marked strings.

use std::borrow::Cow;

/// Marks such a string.
pub const MARK: &str = "\u{fdd0}number ";

/// `json` with every number that has an exponent as a marked string.
pub fn hide(json: &str) -> Cow<'_, str> {
    replace(json, |token| match token {
        Token::Number(number) if number.contains(['e', 'E']) => Some(format!("\"{MARK}{number}\"")),
        _ => None,
    })
}

/// `json` with every marked string as the number that it was.
pub fn show(json: &str) -> Cow<'_, str> {
    replace(json, |token| match token {
        Token::Text(text) => text.trim_matches('"').strip_prefix(MARK).map(str::to_owned),
        Token::Number(_) => None,
    })
}

/// What a marked string stands for; any other as it is.
pub fn plain(text: &str) -> &str {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// `json` with each string that `with` gives another for. Both have their quotes.
pub(super) fn texts(json: &str, with: impl Fn(&str) -> Option<String>) -> Cow<'_, str> {
    replace(json, |token| match token {
        Token::Text(text) => with(text),
        Token::Number(_) => None,
    })
}

enum Token<'a> {
    Text(&'a str),
    Number(&'a str),
}

/// Goes over strings and whatever looks like a number outside of them. What is no JSON comes out as it was, or as
/// something that is no JSON either.
fn replace(json: &str, with: impl Fn(Token<'_>) -> Option<String>) -> Cow<'_, str> {
    let bytes = json.as_bytes();
    let mut out = String::new();
    let (mut at, mut done) = (0, 0);
    while at < bytes.len() {
        let end = match bytes[at] {
            b'"' => end_of_text(bytes, at),
            b'-' | b'0'..=b'9' => end_of_number(bytes, at),
            _ => {
                at += 1;
                continue;
            }
        };
        let token = &json[at..end];
        let token = if bytes[at] == b'"' { Token::Text(token) } else { Token::Number(token) };
        if let Some(new) = with(token) {
            out.push_str(&json[done..at]);
            out.push_str(&new);
            done = end;
        }
        at = end;
    }
    if done == 0 {
        return Cow::Borrowed(json);
    }
    out.push_str(&json[done..]);
    Cow::Owned(out)
}

fn end_of_text(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Where a number as JSON writes them ends; not further, so that `1e` stays the fault that it is.
fn end_of_number(bytes: &[u8], start: usize) -> usize {
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = start + usize::from(bytes[start] == b'-');
    at += if bytes.get(at) == Some(&b'0') { 1 } else { digits(at) };
    if bytes.get(at) == Some(&b'.') && digits(at + 1) > 0 {
        at += 1 + digits(at + 1);
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let exponent = bytes.get(at + 1 + sign..).map_or(0, |_| digits(at + 1 + sign));
        if exponent > 0 {
            at += 1 + sign + exponent;
        }
    }
    at.max(start + 1)
}

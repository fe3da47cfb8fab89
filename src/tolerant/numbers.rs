//! Preserves the text of numbers: `1e3` stays `1e3`.
//!
//! The JSON parser keeps every digit but rewrites exponents (`1e+3`). So the rare numbers with an exponent pass
//! through it as marked strings.

use std::borrow::Cow;

/// The prefix of such a string.
pub const MARK: &str = "\u{fdd0}number ";

/// Replaces every number with an exponent by a marked string.
pub fn hide(json: &str) -> Cow<'_, str> {
    replace(json, |token| match token {
        Token::Number(number) if number.contains(['e', 'E']) => Some(format!("\"{MARK}{number}\"")),
        _ => None,
    })
}

/// Replaces every marked string by its number.
pub fn show(json: &str) -> Cow<'_, str> {
    replace(json, |token| match token {
        Token::Text(text) => text.trim_matches('"').strip_prefix(MARK).map(str::to_owned),
        Token::Number(_) => None,
    })
}

/// The number that a marked string stands for; any other string unchanged.
pub fn plain(text: &str) -> &str {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// Replaces each string for which `with` returns another one. Both include their quotes.
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

/// Passes strings, and everything outside of them that looks like a number, to `with`. Invalid JSON stays invalid.
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

/// The end of a JSON number. In `1e` it ends before `e`, and in `-e1` after `-`, so that the text stays invalid.
fn end_of_number(bytes: &[u8], start: usize) -> usize {
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = start + usize::from(bytes[start] == b'-');
    if digits(at) == 0 {
        return at;
    }
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
    at
}

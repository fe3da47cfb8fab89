//! Splits a condition into tokens with their positions.

use crate::source::Span;

/// Why a text is not a valid condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionError {
    /// The offending token, relative to the condition's text; empty and at the end if something is missing there.
    pub span: Span,
    /// What is wrong and what to write instead.
    pub message: String,
    /// Replacement for the span, if it is certain.
    pub instead: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Open,
    Close,
    Or,
    And,
    Not,
    Equal,
    NotEqual,
    /// The name between `{{` and `}}`.
    Variable(String),
    /// A quoted text, without its quotes.
    Quoted(String),
    /// Any other run of characters.
    Word(String),
}

/// Whether `c` can be part of a bare word.
pub(super) fn in_word(c: char) -> bool {
    !c.is_whitespace() && !"()!=&|\"'{}<>".contains(c)
}

/// Whether `name` is a valid input name.
pub(crate) fn is_input_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

pub(super) fn error(start: usize, end: usize, message: impl Into<String>) -> ConditionError {
    ConditionError { span: Span::new(start, end), message: message.into(), instead: None }
}

/// All tokens of `text`, or the first invalid one.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, Span)>, ConditionError> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let (token, end) = token(text, at)?;
        found.push((token, Span::new(at, end)));
        at = end;
    }
    Ok(found)
}

fn token(text: &str, at: usize) -> Result<(Token, usize), ConditionError> {
    let rest = &text[at..];
    for (sign, token) in [
        ("&&", Token::And),
        ("||", Token::Or),
        ("==", Token::Equal),
        ("!=", Token::NotEqual),
        ("!", Token::Not),
        ("(", Token::Open),
        (")", Token::Close),
    ] {
        if rest.starts_with(sign) {
            return Ok((token, at + sign.len()));
        }
    }
    let c = rest.chars().next().unwrap_or(' ');
    match c {
        '{' => variable(text, at),
        '"' | '\'' => match rest[1..].find(c) {
            Some(length) => Ok((Token::Quoted(rest[1..=length].to_owned()), at + length + 2)),
            None => Err(error(at, text.len(), format!("the closing {c} is missing"))),
        },
        '=' => Err(instead(at, 1, "==", "\"=\" is not an operator: write \"==\"")),
        '&' => Err(instead(at, 1, "&&", "\"&\" is not an operator: write \"&&\" or \"and\"")),
        '|' => Err(instead(at, 1, "||", "\"|\" is not an operator: write \"||\" or \"or\"")),
        '<' | '>' => Err(error(
            at,
            at + 1,
            format!("\"{c}\" is not an operator: values are texts, so use \"==\" or \"!=\""),
        )),
        '}' => Err(error(at, at + 1, "\"}\" without \"{{\" before it")),
        _ => {
            let length = rest.find(|c| !in_word(c)).unwrap_or(rest.len());
            let word = &rest[..length];
            let token = match word {
                "or" => Token::Or,
                "and" => Token::And,
                "not" => Token::Not,
                _ => Token::Word(word.to_owned()),
            };
            Ok((token, at + length))
        }
    }
}

fn instead(at: usize, length: usize, text: &str, message: &str) -> ConditionError {
    ConditionError { instead: Some(text.to_owned()), ..error(at, at + length, message) }
}

fn variable(text: &str, at: usize) -> Result<(Token, usize), ConditionError> {
    let rest = &text[at..];
    let Some(inner) = rest.strip_prefix("{{") else {
        let name = rest[1..].split('}').next().unwrap_or("").trim();
        let close = rest.find('}').filter(|_| is_input_name(name));
        let end = close.map_or(at + 1, |close| at + close + 1);
        return Err(ConditionError {
            instead: close.map(|_| format!("{{{{{name}}}}}")),
            ..error(at, end, "a variable needs two braces: {{name}}")
        });
    };
    let close = inner.find("}}").filter(|&close| !inner[..close].contains("{{"));
    let Some(close) = close else {
        let blank = inner.len() - inner.trim_start().len();
        let length = inner[blank..].find(|c: char| !is_name_char(c)).map_or(inner.len(), |at| blank + at);
        let end = at + 2 + inner[..length].trim_end().len();
        let name = inner[..length].trim();
        // One of the two closing braces may be present.
        let end = if text[end..].starts_with('}') { end + 1 } else { end };
        return Err(ConditionError {
            instead: is_input_name(name).then(|| format!("{{{{{name}}}}}")),
            ..error(at, end, "\"}}\" is missing after the name")
        });
    };
    let name = inner[..close].trim();
    let end = at + close + 4;
    if name.starts_with("stages.") {
        return Err(error(at, end, "a condition can use inputs, but not a stage's result"));
    }
    if !is_input_name(name) {
        return Err(error(at, end, format!("invalid input name \"{name}\"")));
    }
    Ok((Token::Variable(name.to_owned()), end))
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-.".contains(c)
}

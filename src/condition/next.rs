//! What can follow in an unfinished condition, for completion.

use super::lex::{Token, tokens};

/// What can follow the text so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// A fact, a variable, `!` or `(`.
    Operand,
    /// A value to compare this variable with.
    ValueOf(String),
    /// After a variable: `==`, `!=`, `&&` or `||`.
    Comparison,
    /// `&&` and `||`.
    Join,
}

/// Returns what can follow `before`, which ends where a new word starts.
pub fn next(before: &str) -> Next {
    let Ok(tokens) = tokens(before) else { return Next::Operand };
    let last = tokens.last().map(|(token, _)| token);
    let second = tokens.len().checked_sub(2).map(|at| &tokens[at].0);
    match (second, last) {
        (Some(Token::Variable(name)), Some(Token::Equal | Token::NotEqual)) => Next::ValueOf(name.clone()),
        (Some(Token::Equal | Token::NotEqual), Some(Token::Variable(_))) => Next::Join,
        (_, Some(Token::Variable(_))) => Next::Comparison,
        (_, Some(Token::Word(_) | Token::Quoted(_) | Token::Close)) => Next::Join,
        _ => Next::Operand,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completion_depends_on_the_text_before_the_cursor() {
        for (before, expected) in [
            ("", Next::Operand),
            ("!", Next::Operand),
            ("a && (", Next::Operand),
            ("{{x}} == ", Next::ValueOf("x".to_owned())),
            ("a or {{x}} != ", Next::ValueOf("x".to_owned())),
            ("{{x}} ", Next::Comparison),
            ("full == {{x}} ", Next::Join),
            ("story.ui_true ", Next::Join),
            ("(a) ", Next::Join),
            ("\"unfinished", Next::Operand),
        ] {
            assert_eq!(next(before), expected, "{before}");
        }
    }
}

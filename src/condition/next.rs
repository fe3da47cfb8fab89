//! What can stand next in a condition that is still being written.

use super::lex::{Token, tokens};

/// What can stand behind the text so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// A fact, a variable, `!` or `(`.
    Operand,
    /// A value to compare this variable with.
    ValueOf(String),
    /// Behind a variable: `==` and `!=`, and what joins conditions.
    Comparison,
    /// `&&` and `||`.
    Join,
}

/// What can stand behind `before`, which ends where a new word starts.
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
    fn what_can_come_next_follows_from_what_stands_before() {
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

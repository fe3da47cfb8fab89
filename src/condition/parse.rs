//! Parses a condition into an expression.

use super::lex::{Token, error, tokens};
use super::{ConditionError, Expr, Operand};
use crate::source::Span;

/// Maximum depth of parentheses and negations. The parser recurses, so it needs a limit.
pub const MAX_DEPTH: usize = 64;

/// Parses a condition. The whole text must be one condition.
pub fn parse(text: &str) -> Result<Expr, ConditionError> {
    let mut parser = Parser { tokens: tokens(text)?, next: 0, end: text.len() };
    if parser.tokens.is_empty() {
        return Err(error(0, text.len(), "the condition is empty: write \"always\", or remove \"when\""));
    }
    for pair in parser.tokens.windows(2) {
        if let [(Token::Word(first), from), (Token::Word(second), to)] = pair
            && first.ends_with(':')
        {
            let instead = format!("{first}{second}");
            let message = format!("write \"{instead}\", without a space");
            return Err(ConditionError { instead: Some(instead), ..error(from.start, to.end, message) });
        }
    }
    let expr = parser.or(0)?;
    match parser.tokens.get(parser.next) {
        None => Ok(expr),
        Some((token, span)) => Err(trailing(token, *span, text)),
    }
}

fn trailing(token: &Token, span: Span, text: &str) -> ConditionError {
    match token {
        Token::Close => error(span.start, span.end, "\")\" without \"(\""),
        Token::Equal | Token::NotEqual => {
            error(span.start, span.end, "a comparison has two sides: join comparisons with \"and\"")
        }
        Token::Word(word) if ["AND", "OR", "NOT"].contains(&word.to_uppercase().as_str()) => ConditionError {
            instead: Some(word.to_lowercase()),
            ..error(span.start, span.end, format!("write \"{}\" in lower case", word.to_lowercase()))
        },
        _ => error(
            span.start,
            text.trim_end().len(),
            "expected \"and\" or \"or\" before this; a text with spaces needs quotes",
        ),
    }
}

struct Parser {
    tokens: Vec<(Token, Span)>,
    next: usize,
    end: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|(token, _)| token)
    }

    fn accept(&mut self, wanted: &Token) -> bool {
        let found = self.peek() == Some(wanted);
        self.next += usize::from(found);
        found
    }

    fn or(&mut self, depth: usize) -> Result<Expr, ConditionError> {
        let mut all = vec![self.and(depth)?];
        while self.accept(&Token::Or) {
            all.push(self.and(depth)?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Expr::Or(all) })
    }

    fn and(&mut self, depth: usize) -> Result<Expr, ConditionError> {
        let mut all = vec![self.not(depth)?];
        while self.accept(&Token::And) {
            all.push(self.not(depth)?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Expr::And(all) })
    }

    fn not(&mut self, depth: usize) -> Result<Expr, ConditionError> {
        if let Some((Token::Not | Token::Open, span)) = self.tokens.get(self.next)
            && depth >= MAX_DEPTH
        {
            return Err(error(span.start, span.end, format!("nested deeper than {MAX_DEPTH} levels")));
        }
        if self.accept(&Token::Not) {
            return Ok(Expr::Not(Box::new(self.not(depth + 1)?)));
        }
        self.atom(depth)
    }

    fn atom(&mut self, depth: usize) -> Result<Expr, ConditionError> {
        let Some((token, span)) = self.tokens.get(self.next).cloned() else {
            return Err(error(self.end, self.end, "something is missing at the end of the condition"));
        };
        match token {
            Token::Open => {
                self.next += 1;
                let inner = self.or(depth + 1)?;
                if self.accept(&Token::Close) {
                    return Ok(inner);
                }
                match self.tokens.get(self.next) {
                    None => Err(error(span.start, span.end, "\"(\" without \")\"")),
                    Some((token, span)) => Err(match token {
                        Token::Equal | Token::NotEqual => trailing(token, *span, ""),
                        _ => error(span.start, span.end, "expected \")\", \"and\" or \"or\" before this"),
                    }),
                }
            }
            Token::Variable(_) | Token::Quoted(_) | Token::Word(_) => self.comparison(),
            Token::Close => Err(error(span.start, span.end, "something is missing before \")\"")),
            Token::Or | Token::And => Err(error(span.start, span.end, "something is missing before this")),
            Token::Equal | Token::NotEqual => {
                Err(error(span.start, span.end, "the value to compare is missing"))
            }
            Token::Not => self.not(depth),
        }
    }

    fn comparison(&mut self) -> Result<Expr, ConditionError> {
        let left = self.tokens[self.next].clone();
        self.next += 1;
        let equal = match self.peek() {
            Some(Token::Equal) => true,
            Some(Token::NotEqual) => false,
            _ => return alone(left),
        };
        let sign = self.tokens[self.next].1;
        self.next += 1;
        let right = match self.tokens.get(self.next) {
            Some(right @ (Token::Variable(_) | Token::Quoted(_) | Token::Word(_), _)) => right.clone(),
            _ => return Err(error(sign.start, sign.end, "the value to compare with is missing")),
        };
        self.next += 1;
        let (left, right) = (operand(left), operand(right));
        if let (Operand::Text(a, at), Operand::Text(b, end)) = (&left, &right) {
            return Err(constants((a, *at), (b, *end), equal));
        }
        Ok(if equal { Expr::Equal(left, right) } else { Expr::NotEqual(left, right) })
    }
}

fn operand((token, span): (Token, Span)) -> Operand {
    match token {
        Token::Variable(name) => Operand::Variable(name, span),
        Token::Quoted(text) | Token::Word(text) => Operand::Text(text, span),
        _ => Operand::Text(String::new(), span),
    }
}

/// Neither side can change: either a fact is compared like a value, or the result is always the same.
fn constants((left, at): (&str, Span), (right, end): (&str, Span), equal: bool) -> ConditionError {
    let fact = |word: &str| word.contains(['.', ':']) || matches!(word, "always" | "never");
    let (name, value) = if fact(left) || !fact(right) { (left, right) } else { (right, left) };
    let span = Span::new(at.start, end.end);
    if !fact(name) {
        let message = format!("\"{left}\" and \"{right}\" are constants: write a variable as {{{{name}}}}");
        return ConditionError { span, message, instead: None };
    }
    let instead = match value {
        "true" => Some(if equal { name.to_owned() } else { format!("!{name}") }),
        "false" => Some(if equal { format!("!{name}") } else { name.to_owned() }),
        _ => None,
    };
    let message =
        format!("\"{name}\" is a fact, which is true or false: write it alone, or with \"!\" before it");
    ConditionError { span, message, instead }
}

fn alone((token, span): (Token, Span)) -> Result<Expr, ConditionError> {
    match token {
        Token::Variable(name) => Ok(Expr::Variable(name, span)),
        Token::Word(word) => Ok(match word.as_str() {
            "ui:true" => Expr::Fact("story.ui_true".to_owned(), span),
            "ui:false" => Expr::Not(Box::new(Expr::Fact("story.ui_true".to_owned(), span))),
            _ => Expr::Fact(word, span),
        }),
        _ => Err(error(span.start, span.end, "a text is neither true nor false: compare it with a variable")),
    }
}

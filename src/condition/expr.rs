//! The syntax tree of a condition.

use crate::source::Span;

/// A parsed condition. Spans are relative to the condition's own text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// A fact, by its canonical name (`ui:true` is `story.ui_true`; `ui:false` is its negation; `always`, `never`).
    Fact(String, Span),
    /// `{{input}}` alone: true unless it is empty or `false`.
    Variable(String, Span),
    /// `a == b`.
    Equal(Operand, Operand),
    /// `a != b`.
    NotEqual(Operand, Operand),
    Not(Box<Expr>),
    /// True if all parts are, at least two; evaluation stops at the first false one.
    And(Vec<Expr>),
    /// True if any part is, at least two; evaluation stops at the first true one.
    Or(Vec<Expr>),
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// `{{input}}`.
    Variable(String, Span),
    /// A quoted text or a bare word.
    Text(String, Span),
}

impl Operand {
    /// Position in the condition, with its braces or quotes.
    pub const fn span(&self) -> Span {
        match self {
            Operand::Variable(_, span) | Operand::Text(_, span) => *span,
        }
    }
}

impl Expr {
    /// Calls `visit` for this expression and all its parts, outermost first.
    ///
    /// The recursion is bounded, because the parser limits the depth.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        visit(self);
        match self {
            Expr::Not(inner) => inner.walk(visit),
            Expr::And(all) | Expr::Or(all) => all.iter().for_each(|inner| inner.walk(visit)),
            Expr::Fact(..) | Expr::Variable(..) | Expr::Equal(..) | Expr::NotEqual(..) => {}
        }
    }

    /// Every `{{input}}` with its position, in the order of the text.
    pub fn variables(&self) -> Vec<(&str, Span)> {
        let mut found = Vec::new();
        self.walk(&mut |expr| match expr {
            Expr::Variable(name, span) => found.push((name.as_str(), *span)),
            Expr::Equal(left, right) | Expr::NotEqual(left, right) => {
                for operand in [left, right] {
                    if let Operand::Variable(name, span) = operand {
                        found.push((name.as_str(), *span));
                    }
                }
            }
            _ => {}
        });
        found
    }
}

//! The language of `when`.

use crate::source::Span;

/// A parsed condition. Spans are relative to the condition's own text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// A fact, by its canonical name (`ui:true` is `story.ui_true`; `ui:false` is its negation; `always`, `never`).
    Fact(String, Span),
    /// `{{input}}` alone: true when not empty and not `false`.
    Variable(String, Span),
    /// `a == b`.
    Equal(Operand, Operand),
    /// `a != b`.
    NotEqual(Operand, Operand),
    /// Not.
    Not(Box<Expr>),
    /// All of these, at least two; the first false one ends the evaluation.
    And(Vec<Expr>),
    /// Any of these, at least two; the first true one ends the evaluation.
    Or(Vec<Expr>),
}

/// What can stand beside `==`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// `{{input}}`.
    Variable(String, Span),
    /// A quoted text or a bare word.
    Text(String, Span),
}

/// What a condition comes to with the facts known so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evaluation {
    /// Decided.
    Known(bool),
    /// This fact must be decided first.
    Needs(String),
}

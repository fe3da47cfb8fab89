//! The language of `when`.
//!
//! ```text
//! or    := and (("||" | "or") and)*        atom    := "(" or ")" | operand ("==" | "!=") operand | fact | variable
//! and   := not (("&&" | "and") not)*       operand := variable | "quoted" | 'quoted' | bare-word
//! not   := ("!" | "not")* atom             fact    := dotted.word | "ui:true" | "ui:false" | "always" | "never"
//! ```

mod eval;
mod lex;
mod next;
mod parse;
mod show;

pub use eval::eval;
pub(crate) use lex::is_input_name;
pub use next::{Next, next};
pub use parse::parse;

use crate::source::Span;

/// The facts that the engine itself decides, by canonical name, each with what makes it true.
pub const FACTS: &[(&str, &str)] = &[
    ("identity.tokens_missing", "true when `docs/design/identity/tokens.json` does not exist"),
    ("story.ui_true", "true when the current story's frontmatter has `ui: true`; also written `ui:true`"),
    ("branch.not_spike", "true when the current git branch does not start with `spike/`"),
];

/// The words that need no deciding, or stand for a fact of another name.
pub const WORDS: &[(&str, &str)] = &[
    ("always", "always true"),
    ("never", "never true"),
    ("ui:true", "the same as `story.ui_true`"),
    ("ui:false", "the opposite of `story.ui_true`"),
];

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

impl Operand {
    /// Where it stands in the condition, with its braces or quotes.
    pub const fn span(&self) -> Span {
        match self {
            Operand::Variable(_, span) | Operand::Text(_, span) => *span,
        }
    }
}

/// What a condition comes to with the facts known so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evaluation {
    /// Decided.
    Known(bool),
    /// This fact must be decided first.
    Needs(String),
}

/// Why a text is no condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionError {
    /// The offending token, relative to the condition's text; empty at the end where something is missing.
    pub span: Span,
    /// What is wrong and what to write.
    pub message: String,
    /// What to put in place of the span, where that is certain.
    pub instead: Option<String>,
}

impl Expr {
    /// Calls `visit` for this expression and everything in it, outermost first.
    ///
    /// Bounded, since the parser bounds the depth.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        visit(self);
        match self {
            Expr::Not(inner) => inner.walk(visit),
            Expr::And(all) | Expr::Or(all) => all.iter().for_each(|inner| inner.walk(visit)),
            Expr::Fact(..) | Expr::Variable(..) | Expr::Equal(..) | Expr::NotEqual(..) => {}
        }
    }

    /// Every `{{input}}` in it, with its place, in the order of the text.
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

/// The facts that a condition may ask for, each once, in the order of the text; `always` and `never` ask for nothing.
pub fn facts_in(expr: &Expr) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    expr.walk(&mut |expr| {
        if let Expr::Fact(name, _) = expr
            && !matches!(name.as_str(), "always" | "never")
            && !found.contains(&name.as_str())
        {
            found.push(name);
        }
    });
    found
}

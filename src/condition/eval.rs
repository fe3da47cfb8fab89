//! Evaluates a condition.

use super::expr::{Expr, Operand};

/// The result of evaluating a condition with the facts known so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evaluation {
    Known(bool),
    /// This fact must be decided first.
    Needs(String),
}

/// Evaluates `expr` from left to right and asks for as few facts as possible: a fact is [`Evaluation::Needs`] only if
/// the evaluation reaches it.
///
/// `inputs` returns an input's value (else its default, else an empty text); `fact` returns a fact that has been
/// decided.
pub fn eval(expr: &Expr, inputs: &dyn Fn(&str) -> String, fact: &dyn Fn(&str) -> Option<bool>) -> Evaluation {
    let value = |operand: &Operand| match operand {
        Operand::Variable(name, _) => inputs(name),
        Operand::Text(text, _) => text.clone(),
    };
    match expr {
        Expr::Fact(name, _) => match name.as_str() {
            "always" => Evaluation::Known(true),
            "never" => Evaluation::Known(false),
            name => fact(name).map_or_else(|| Evaluation::Needs(name.to_owned()), Evaluation::Known),
        },
        Expr::Variable(name, _) => {
            let value = inputs(name);
            Evaluation::Known(!value.is_empty() && value != "false")
        }
        Expr::Equal(left, right) => Evaluation::Known(value(left) == value(right)),
        Expr::NotEqual(left, right) => Evaluation::Known(value(left) != value(right)),
        Expr::Not(inner) => match eval(inner, inputs, fact) {
            Evaluation::Known(known) => Evaluation::Known(!known),
            needs @ Evaluation::Needs(_) => needs,
        },
        Expr::And(all) => join(all, true, inputs, fact),
        Expr::Or(any) => join(any, false, inputs, fact),
    }
}

/// `and` continues while the parts are true, `or` while they are false.
fn join(
    parts: &[Expr],
    go_on: bool,
    inputs: &dyn Fn(&str) -> String,
    fact: &dyn Fn(&str) -> Option<bool>,
) -> Evaluation {
    for part in parts {
        match eval(part, inputs, fact) {
            Evaluation::Known(known) if known == go_on => {}
            decided => return decided,
        }
    }
    Evaluation::Known(go_on)
}

//! Formats a condition in its canonical form, to explain facts and verdicts.

use super::lex::in_word;
use super::{Expr, Operand};
use std::fmt::{self, Display, Formatter};

impl Display for Operand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Variable(name, _) => write!(f, "{{{{{name}}}}}"),
            Operand::Text(text, _) if bare(text) => f.write_str(text),
            Operand::Text(text, _) if text.contains('"') => write!(f, "'{text}'"),
            Operand::Text(text, _) => write!(f, "\"{text}\""),
        }
    }
}

fn bare(text: &str) -> bool {
    !text.is_empty() && text.chars().all(in_word) && !["and", "or", "not"].contains(&text)
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Fact(name, _) => f.write_str(name),
            Expr::Variable(name, _) => write!(f, "{{{{{name}}}}}"),
            Expr::Equal(left, right) => write!(f, "{left} == {right}"),
            Expr::NotEqual(left, right) => write!(f, "{left} != {right}"),
            Expr::Not(inner) => match **inner {
                Expr::Fact(..) | Expr::Variable(..) | Expr::Not(_) => write!(f, "!{inner}"),
                _ => write!(f, "!({inner})"),
            },
            Expr::And(all) => join(f, all, " && ", |part| matches!(part, Expr::And(_) | Expr::Or(_))),
            Expr::Or(any) => join(f, any, " || ", |part| matches!(part, Expr::Or(_))),
        }
    }
}

fn join(f: &mut Formatter<'_>, parts: &[Expr], between: &str, wrapped: fn(&Expr) -> bool) -> fmt::Result {
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            f.write_str(between)?;
        }
        if wrapped(part) { write!(f, "({part})")? } else { write!(f, "{part}")? }
    }
    Ok(())
}

//! The language of `when`.
//!
//! ```text
//! or    := and (("||" | "or") and)*        atom    := "(" or ")" | operand ("==" | "!=") operand | fact | variable
//! and   := not (("&&" | "and") not)*       operand := variable | "quoted" | 'quoted' | bare-word
//! not   := ("!" | "not")* atom             fact    := dotted.word | "ui:true" | "ui:false" | "always" | "never"
//! ```

mod eval;
mod expr;
mod facts;
mod lex;
mod next;
mod parse;
mod show;

pub use eval::{Evaluation, eval};
pub use expr::{Expr, Operand};
pub use facts::{FACTS, WORDS, facts_in};
pub use lex::ConditionError;
pub(crate) use lex::is_input_name;
pub use next::{Next, next};
pub use parse::parse;

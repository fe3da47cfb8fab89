//! The facts that a condition can use.

use super::expr::Expr;

/// The built-in facts by canonical name, each with its meaning.
pub const FACTS: &[(&str, &str)] = &[
    ("identity.tokens_missing", "true when `docs/design/identity/tokens.json` does not exist"),
    ("story.ui_true", "true when the current story's frontmatter has `ui: true`; also written `ui:true`"),
    ("branch.not_spike", "true when the current git branch does not start with `spike/`"),
];

/// Constants, and other names for a fact.
pub const WORDS: &[(&str, &str)] = &[
    ("always", "always true"),
    ("never", "never true"),
    ("ui:true", "the same as `story.ui_true`"),
    ("ui:false", "the opposite of `story.ui_true`"),
];

/// The facts that a condition uses, each once, in the order of the text. `always` and `never` are not facts.
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

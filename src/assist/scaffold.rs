//! Creates a new declaration from a template, by changing its name.

use crate::check::{Context, check};
use crate::declaration::yaml_writer::plain_or_quoted;

/// The template's text with another name.
pub fn scaffold(template: &str, name: &str) -> String {
    let checked = check(template, &Context::default());
    let mut text = checked.source.text().to_owned();
    if let Some(own) = &checked.draft.name {
        let span = checked.tree.node(own.slot.node).span;
        text.replace_range(span.start..span.end, &plain_or_quoted(name));
    }
    text
}

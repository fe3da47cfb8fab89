//! Explains errors that a look-alike caused: a name, word or condition that would be valid with the real sign.

use super::yaml::{Kind, Style, Tree};
use crate::diagnostic::{Code, Diagnostic, Edit, Fix};
use crate::lookalike::{called, explained, meant, shown};
use crate::source::{Source, Span};

/// Codes about a word in the text, as opposed to prose or missing parts.
const OF_WORDS: &[Code] = &[
    Code::ConstantCondition,
    Code::InvalidName,
    Code::InvalidVersion,
    Code::InvalidValue,
    Code::InvalidCondition,
    Code::InvalidDefault,
    Code::InvalidTemplate,
    Code::MisplacedField,
    Code::UncheckedCondition,
    Code::UndefinedVariable,
    Code::UnknownAgent,
    Code::UnknownCondition,
    Code::UnknownDependency,
    Code::UnknownField,
    Code::UnknownGate,
    Code::UnknownPipeline,
    Code::UnknownSkill,
    Code::UnknownStage,
    Code::UnknownType,
    Code::WrongType,
];

/// Names the first look-alike at the position of a problem, with a fix if that is certain, and makes hidden characters
/// in the message visible.
pub fn explain(source: &Source, tree: &Tree, diagnostic: &mut Diagnostic) {
    let here = source.slice(diagnostic.span);
    let found = if here.is_ascii() { None } else { here.chars().find(|c| meant(*c).is_some()) };
    diagnostic.message = shown(&diagnostic.message);
    let Some(c) = found.filter(|_| OF_WORDS.contains(&diagnostic.code)) else { return };
    let span = match diagnostic.code {
        // A text may contain several look-alikes, and one quote is useless without the other.
        Code::ConstantCondition
        | Code::InvalidCondition
        | Code::UncheckedCondition
        | Code::UnknownCondition => scalar(tree, diagnostic.span).map_or(diagnostic.span, |(whole, _)| whole),
        _ => diagnostic.span,
    };
    let text = source.slice(span);
    let edits = edits(tree, span, text);
    let after = applied(text, span, &edits);
    let structure = diagnostic.code == Code::WrongType;
    let starts =
        here.chars().next().and_then(meant).is_some_and(|sign| ["[", "{", "\"", "'"].contains(&sign));
    if structure && !starts && !after.is_ascii() {
        return;
    }
    if !diagnostic.message.contains(&called(c)) {
        diagnostic.message.push_str(&format!(": {}", explained(c)));
    }
    if after.is_ascii() && (diagnostic.fix.is_none() || structure) || structure && starts {
        diagnostic.fix = Some(Fix { title: format!("change to {}", after.trim()), edits });
    }
}

/// Maximum number of nodes that are searched for a scalar; nodes are in the order of the text.
const NEAR: usize = 64;

/// The scalar at this position, and its style.
fn scalar(tree: &Tree, span: Span) -> Option<(Span, Style)> {
    let until = tree.nodes.partition_point(|node| node.span.start <= span.start);
    tree.nodes[..until].iter().rev().take(NEAR).find_map(|node| match &node.kind {
        Kind::Scalar { style, .. } if span.end <= node.span.end => Some((node.span, *style)),
        _ => None,
    })
}

/// Replaces every look-alike in `text`, which is at `span`, in the style of its scalar.
fn edits(tree: &Tree, span: Span, text: &str) -> Vec<Edit> {
    let style = scalar(tree, span).map_or(Style::Plain, |(_, style)| style);
    let in_brackets = text.chars().next().is_some_and(|c| matches!(meant(c), Some("[" | "{")));
    let odd = text.char_indices().filter_map(|(at, c)| Some((at, c, meant(c)?)));
    odd.map(|(at, c, sign)| {
        let is_tight = in_brackets && !text[at + c.len_utf8()..].starts_with(' ');
        let sign = match (style, sign) {
            (Style::DoubleQuoted, "\"") => "\\\"",
            (Style::SingleQuoted, "'") => "''",
            (_, "\n") => " ",
            // Without a space, it would be part of the word before it.
            (Style::Plain, ":") if is_tight => ": ",
            (_, sign) => sign,
        };
        let at = span.start + at;
        Edit { span: Span::new(at, at + c.len_utf8()), text: sign.to_owned() }
    })
    .collect()
}

fn applied(text: &str, span: Span, edits: &[Edit]) -> String {
    edits.iter().rev().fold(text.to_owned(), |mut text, edit| {
        text.replace_range(edit.span.start - span.start..edit.span.end - span.start, &edit.text);
        text
    })
}

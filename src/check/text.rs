//! Faults of the text as such: not UTF-8, not YAML, too large.

use crate::declaration::patched;
use crate::declaration::yaml::{self, MAX_DEPTH, MAX_NODES, Stop, Tree};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{Source, Span};
use granit_parser::ErrorKind;

/// How large a declaration may be.
pub const MAX_BYTES: usize = 1 << 20;

/// Reads a text into a tree, with what is wrong with the text.
pub fn read(source: &Source) -> (Tree, Vec<Diagnostic>) {
    let length = source.text().len();
    if length > MAX_BYTES {
        let message = format!("the file has {length} bytes, and {MAX_BYTES} is the most");
        let end = source.offset(0, usize::MAX);
        return (
            yaml::read(&patched("")).0,
            vec![Diagnostic::new(Code::Limit, Span::new(0, end), "", message)],
        );
    }
    let (tree, stop) = yaml::read(&patched(source.text()));
    let mut found = Vec::new();
    found.extend(stop.map(|stop| stopped(source, &stop)));
    structure(source, &tree, &mut found);
    (tree, found)
}

fn stopped(source: &Source, stop: &Stop) -> Diagnostic {
    let line = source.position(stop.offset).line;
    let end = source.offset(line, usize::MAX).max(stop.offset);
    let span = Span::new(stop.offset, end);
    if *stop.error.kind() == ErrorKind::RecursionLimitExceeded {
        return Diagnostic::new(Code::Limit, span, "", format!("nested deeper than {MAX_DEPTH} levels"));
    }
    Diagnostic::new(Code::YamlSyntax, span, "", stop.error.kind().to_string())
}

/// What YAML allows and a declaration does not.
fn structure(source: &Source, tree: &Tree, found: &mut Vec<Diagnostic>) {
    for &id in &tree.lost_aliases {
        let span = tree.node(id).span;
        let message =
            format!("\"{}\" stands for nothing: no anchor before it has this name", source.slice(span));
        found.push(Diagnostic::new(Code::YamlSyntax, span, "", message));
    }
    if let Some(span) = tree.second_document {
        let message = "a second document starts here: one file holds one superpower";
        found.push(Diagnostic::new(Code::YamlSyntax, span, "", message));
    }
    if let Some(span) = tree.too_deep {
        let message = format!("nested deeper than {MAX_DEPTH} levels, what the alias stands for counted");
        found.push(Diagnostic::new(Code::Limit, span, "", message));
    }
    if tree.expanded > MAX_NODES {
        let span = tree.root().map(|root| tree.node(root).span).unwrap_or_default();
        let end = source.offset(source.position(span.start).line, usize::MAX);
        let message = format!("more than {MAX_NODES} values, with aliases counted as what they stand for");
        found.push(Diagnostic::new(Code::Limit, Span::new(span.start, end.max(span.start)), "", message));
    }
    if tree.root().is_none_or(|root| {
        let node = tree.node(root);
        node.span.start == node.span.end && tree.core(root).is_some()
    }) && found.is_empty()
    {
        let message = "there is nothing here: a superpower needs name, description, version and stages";
        found.push(Diagnostic::new(Code::MissingField, Span::default(), "", message));
    }
}

/// Bytes as a text of the same length, with where they are none.
pub fn decode(bytes: &[u8]) -> (String, Vec<Diagnostic>) {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        let message = "the file is UTF-16: save it as UTF-8";
        return (String::new(), vec![Diagnostic::new(Code::YamlSyntax, Span::default(), "", message)]);
    }
    let mut text = String::with_capacity(bytes.len());
    let mut found = Vec::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        let wrong = chunk.invalid();
        if wrong.is_empty() {
            continue;
        }
        let start = text.len();
        text.extend(std::iter::repeat_n('?', wrong.len()));
        if found.len() < 16 {
            let shown: Vec<String> = wrong.iter().map(|byte| format!("0x{byte:02X}")).collect();
            let message = format!("{} is not UTF-8: save the file as UTF-8", shown.join(" "));
            found.push(Diagnostic::new(Code::YamlSyntax, Span::new(start, text.len()), "", message));
        }
    }
    (text, found)
}

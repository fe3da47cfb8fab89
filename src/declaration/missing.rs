//! Reports required keys that are missing, with a fix that adds them.

use super::draft::Slot;
use super::fields::Fields;
use super::keys::{Key, Level};
use super::sink::Sink;
use super::yaml::{Kind, NodeId};
use crate::diagnostic::{Code, Edit};
use crate::source::Span;

/// Reports every required key of `level` that is missing in the mapping.
pub fn report(sink: &mut Sink<'_>, fields: &Fields, level: Level) {
    if sink.may_lack_keys(fields.slot.node) || has_merge(sink, fields.slot.node) {
        return;
    }
    for key in level.keys().filter(|key| key.required && fields.get(key.name).is_none()) {
        let place = Slot {
            path: fields.slot.path.missing(key.name),
            key: first_key(sink, fields.slot.node),
            ..fields.slot
        };
        let message = format!("\"{}\" is missing: {} needs it", key.name, level.called());
        let edit = addition(sink, fields, key);
        let report = sink.at_key(Code::MissingField, &place, message);
        if let Some(edit) = edit {
            report.edits(format!("add \"{}\"", key.name), vec![edit]);
        }
    }
}

/// Whether the mapping has a merge key (`<<`). It is refused, and might have brought the missing key.
fn has_merge(sink: &Sink<'_>, node: NodeId) -> bool {
    let Kind::Mapping(pairs) = &sink.tree.node(node).kind else { return false };
    let is_merge =
        |key: NodeId| matches!(&sink.tree.node(key).kind, Kind::Scalar { text, .. } if text == "<<");
    pairs.iter().any(|(key, _)| is_merge(*key))
}

/// The position to show for a missing key.
fn first_key(sink: &Sink<'_>, node: NodeId) -> Span {
    let whole = sink.tree.node(node).span;
    match &sink.tree.node(node).kind {
        Kind::Mapping(pairs) => pairs.first().map_or(whole, |(key, _)| sink.tree.node(*key).span),
        _ => whole,
    }
}

/// An edit that adds the key after the nearest key that usually comes before it, or else at the start.
fn addition(sink: &Sink<'_>, fields: &Fields, key: &Key) -> Option<Edit> {
    let source = sink.source;
    let entry = match (key.level, key.name) {
        (Level::Top, "name") => "name: my-superpower".to_owned(),
        (Level::Top, "version") => "version: \"1.0.0\"".to_owned(),
        (Level::Top, "stages") => "stages:\n  - gate: human-approval".to_owned(),
        (Level::Input, "name") => format!("name: input_{}", fields.slot.path.number()),
        (_, name) => format!("{name}: what it is for"),
    };
    let node = sink.tree.node(fields.slot.node);
    let before = key
        .level
        .keys()
        .take_while(|other| other.name != key.name)
        .filter_map(|other| fields.get(other.name))
        .last();
    if node.flow {
        let at = node.span.start + 1;
        let comma = if fields.entries.is_empty() { "" } else { ", " };
        return (!entry.contains('\n'))
            .then(|| Edit { span: Span::new(at, at), text: format!("{entry}{comma}") });
    }
    if let Some(slot) = before {
        let end = sink.tree.node(slot.node).span.end.max(slot.key.end);
        let line = source.position(end).line;
        let column = source.position(slot.key.start).col;
        let at = source.offset(line, usize::MAX);
        let at = at - usize::from(source.text()[..at].ends_with('\r'));
        return Some(Edit {
            span: Span::new(at, at),
            text: format!("\n{}{entry}", " ".repeat(column)).replace('\n', sink.line_break()),
        });
    }
    let column = source.position(node.span.start).col;
    let at = node.span.start;
    let text = format!("{entry}\n{}", " ".repeat(column)).replace('\n', sink.line_break());
    Some(Edit { span: Span::new(at, at), text })
}

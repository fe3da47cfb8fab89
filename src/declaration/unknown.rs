//! Reports keys that are not known at their place.

use super::draft::Slot;
use super::fields::Fields;
use super::keys::{self, Level};
use super::sink::Sink;
use super::yaml::{Kind, NodeId};
use crate::diagnostic::{Code, Edit};
use crate::source::Span;

/// Reports an unknown key. Returns whether it is an error that may hide what a stage does.
pub fn report(
    sink: &mut Sink<'_>,
    fields: &Fields,
    slot: &Slot,
    value: NodeId,
    name: &str,
    level: Level,
) -> bool {
    let near = keys::nearest_key(level, name);
    if name == "<<" {
        merge(sink, slot, value);
        return true;
    }
    if level == Level::Stage && near == Some("gate") || keys::looks_like_gate(name) {
        gate(sink, fields, slot, name, level);
        return true;
    }
    let taken = near.is_some_and(|near| fields.get(near).is_some());
    let elsewhere = Level::ALL.into_iter().find(|other| other.key(name).is_some());
    let hint = match (elsewhere, near) {
        (Some(other), _) => format!(": it belongs in {}", other.called()),
        (None, Some(near)) => format!(" (did you mean \"{near}\"?)"),
        (None, None) => String::new(),
    };
    let message = format!("unknown field \"{name}\" in {}{hint}", level.called());
    let report = sink.at_key(Code::UnknownField, slot, message);
    if let Some(near) = near.filter(|_| !taken && elsewhere.is_none()) {
        report.fix(format!("change to \"{near}\""), near);
    }
    false
}

/// Reports a key that looks like a gate. It is an error, because the author expects the run to wait.
fn gate(sink: &mut Sink<'_>, fields: &Fields, slot: &Slot, name: &str, level: Level) {
    let place = if level == Level::Stage { "" } else { " in a stage" };
    let message = format!(
        "\"{name}\" is not a gate, so the run would not wait for a human: write \"gate: human-approval\"{place}"
    );
    let value = sink.tree.node(slot.node);
    let scalar = matches!(value.kind, Kind::Scalar { .. });
    let fixable = scalar && level == Level::Stage && fields.get("gate").is_none() && slot.alias.is_none();
    let colon = sink.source.slice(Span::new(slot.key.end, sink.source.text().len())).starts_with(':');
    let span = Span::new(slot.key.start, value.span.end.max(slot.key.end + usize::from(colon)));
    let report = sink.at_key(Code::MisplacedField, slot, message);
    if fixable {
        let text = "gate: human-approval".to_owned();
        report.edits("change to \"gate: human-approval\"", vec![Edit { span, text }]);
    }
}

/// Reports a merge key such as `<<: *base`. Its content is ignored; the fix writes it out.
pub(super) fn merge(sink: &mut Sink<'_>, slot: &Slot, value: NodeId) {
    let (target, alias) = sink.tree.resolve(value);
    let column = sink.source.position(slot.key.start).col;
    let mut lines = Vec::new();
    if let Kind::Mapping(pairs) = &sink.tree.node(target).kind {
        for (key, value) in pairs {
            let (key, value) = (sink.tree.node(*key), sink.tree.node(*value));
            let simple = matches!(value.kind, Kind::Scalar { .. }) || value.flow;
            let written = sink.source.slice(value.span);
            let line = !written.contains('\n') && simple;
            lines.push(line.then(|| format!("{}: {written}", sink.source.slice(key.span))));
        }
    }
    let all: Option<Vec<String>> = lines.into_iter().collect();
    let span = Span::new(slot.key.start, sink.tree.node(value).span.end);
    let message = "merge keys (\"<<\") are not part of YAML 1.2: write the merged keys out";
    let report = sink.at_key(Code::MisplacedField, slot, message);
    if let Some(all) = all.filter(|all| !all.is_empty() && alias.is_some()) {
        let text = all.join(&format!("\n{}", " ".repeat(column)));
        report.edits("write them out", vec![Edit { span, text }]);
    }
}

//! A mapping's keys against the table: unknown, misplaced and double ones are reported here, once for all levels.

use super::draft::Slot;
use super::keys::{self, Key, Level};
use super::sink::Sink;
use super::yaml::{Kind, NodeId, Tree};
use crate::diagnostic::{Code, Edit};
use crate::source::Span;
use crate::suggest;
use std::collections::HashMap;

/// The known keys of one mapping.
pub struct Fields {
    /// In the order of the text, each once.
    pub entries: Vec<(&'static Key, Slot)>,
    /// Where the mapping stands.
    pub slot: Slot,
    /// Whether a key was not understood that was meant as something.
    pub unsure: bool,
}

impl Fields {
    /// The value of a key.
    pub fn get(&self, name: &str) -> Option<&Slot> {
        self.entries.iter().find(|(key, _)| key.name == name).map(|(_, slot)| slot)
    }
}

/// The slot of a child of `parent`.
pub fn child(tree: &Tree, parent: &Slot, key: Span, node: NodeId, path: String) -> Slot {
    let (node, alias) = tree.resolve(node);
    Slot { node, alias: parent.alias.or_else(|| alias.map(|alias| tree.node(alias).span)), key, path }
}

/// `a.b`, or `b` at the top.
pub fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Reads the keys of the mapping at `slot`, which must be one.
pub fn read(sink: &mut Sink<'_>, slot: &Slot, level: Level) -> Option<Fields> {
    let tree = sink.tree;
    let Kind::Mapping(pairs) = &tree.node(slot.node).kind else { return None };
    let mut fields = Fields { entries: Vec::with_capacity(pairs.len()), slot: slot.clone(), unsure: false };
    for (key, value, name) in unique(sink, slot, pairs) {
        let at = child(tree, slot, tree.node(key).span, value, join(&slot.path, name));
        match level.key(name) {
            Some(known) => fields.entries.push((known, at)),
            None if keys::is_free(name) => {}
            None => fields.unsure |= unknown(sink, &fields, &at, name, level),
        }
    }
    Some(fields)
}

/// The pairs of a mapping whose key is a text, each text once; others are reported.
pub fn unique<'a>(
    sink: &mut Sink<'a>,
    slot: &Slot,
    pairs: &[(NodeId, NodeId)],
) -> Vec<(NodeId, NodeId, &'a str)> {
    let tree = sink.tree;
    let mut first: HashMap<&str, Span> = HashMap::with_capacity(pairs.len());
    let mut found = Vec::with_capacity(pairs.len());
    for &(key, value) in pairs {
        let (key_node, _) = tree.resolve(key);
        let span = tree.node(key).span;
        let Kind::Scalar { text, .. } = &tree.node(key_node).kind else {
            let at = Slot { node: key, alias: slot.alias, key: span, path: slot.path.clone() };
            sink.at(Code::WrongType, &at, "a key must be a word");
            continue;
        };
        let at = Slot { node: key, alias: slot.alias, key: span, path: join(&slot.path, text) };
        match first.get(text.as_str()) {
            None => {
                first.insert(text, span);
                found.push((key, value, text.as_str()));
            }
            Some(&earlier) => {
                sink.at_key(Code::DuplicateKey, &at, format!("\"{text}\" is here a second time"))
                    .related(earlier, "first here");
            }
        }
    }
    found
}

/// Reports a key that means nothing here; whether it was meant as something that decides what a stage does.
fn unknown(sink: &mut Sink<'_>, fields: &Fields, slot: &Slot, name: &str, level: Level) -> bool {
    let near = keys::nearest_key(level, name);
    let taken = near.is_some_and(|near| fields.get(near).is_some());
    if name == "<<" {
        sink.at_key(
            Code::MisplacedField,
            slot,
            "merge keys are not read here: write out the keys that \"<<\" should bring",
        );
        return true;
    }
    if level == Level::Stage && near == Some("gate") || keys::looks_like_gate(name) {
        let message = if level == Level::Stage {
            format!(
                "\"{name}\" is no gate, and nothing would wait for a human: write \"gate: human-approval\""
            )
        } else {
            format!(
                "\"{name}\" is no gate, and nothing would wait for a human: write \"gate: human-approval\" in a stage"
            )
        };
        let fix = level == Level::Stage && fields.get("gate").is_none();
        let value = sink.tree.node(slot.node);
        let simple = matches!(value.kind, Kind::Scalar { .. });
        let end = if simple { value.span.end.max(slot.key.end) } else { slot.key.end };
        let report = sink.at_key(Code::MisplacedField, slot, message);
        if fix && simple {
            let span = Span::new(slot.key.start, end);
            let text = if value.span.start == value.span.end { "gate" } else { "gate: human-approval" };
            report.edits("change to \"gate: human-approval\"", vec![Edit { span, text: text.to_owned() }]);
        }
        return true;
    }
    let elsewhere: Vec<_> = Level::ALL.into_iter().filter(|other| other.key(name).is_some()).collect();
    if let Some(other) = elsewhere.first() {
        let message =
            format!("unknown field \"{name}\" in {}: it belongs in {}", level.called(), other.called());
        sink.at_key(Code::UnknownField, slot, message);
        return true;
    }
    let hint = near.map(|near| format!(" (did you mean \"{near}\"?)")).unwrap_or_default();
    let report = sink.at_key(
        Code::UnknownField,
        slot,
        format!("unknown field \"{name}\" in {}{hint}", level.called()),
    );
    if let Some(near) = near.filter(|_| !taken) {
        report.fix(format!("change to \"{near}\""), near);
    }
    near.is_some_and(|near| matches!(near, "agent" | "skill" | "pipeline"))
        || suggest::nearest(name, ["agent", "skill", "pipeline"]).is_some()
}

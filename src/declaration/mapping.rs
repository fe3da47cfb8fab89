//! Compares a mapping's keys with the table, and reports unknown, misplaced and duplicate ones for all levels.

use super::draft::Slot;
use super::fields::Fields;
use super::keys::{self, Level};
use super::path::Path;
use super::sink::Sink;
use super::unknown;
use super::yaml::{Kind, NodeId, Tree};
use crate::diagnostic::Code;
use crate::source::Span;
use std::collections::HashMap;

/// Up to this number of keys, a linear search is faster than a hash table.
const FEW: usize = 16;

/// The slot of a child of `parent`.
pub fn child(tree: &Tree, parent: &Slot, key: Span, node: NodeId, path: Path) -> Slot {
    let (node, alias) = tree.resolve(node);
    let alias = parent.alias.or_else(|| alias.map(|alias| tree.node(alias).span));
    Slot { node, alias, outer: parent.alias, key, path }
}

/// Reads the keys of the mapping at `slot`.
pub fn read(sink: &mut Sink<'_>, slot: &Slot, level: Level) -> Option<Fields> {
    let tree = sink.tree;
    let Kind::Mapping(pairs) = &tree.node(slot.node).kind else { return None };
    let mut fields = Fields { entries: Vec::with_capacity(pairs.len()), slot: *slot, unsure: false };
    for (key, value, name) in unique(sink, slot, pairs) {
        let at = child(tree, slot, tree.node(key).span, value, slot.path.key(key));
        match level.key(name) {
            Some(known) => fields.entries.push((known, at)),
            None if keys::is_free(name) => {}
            None => fields.unsure |= unknown::report(sink, &fields, &at, value, name, level),
        }
    }
    Some(fields)
}

/// The pairs whose key is a text, each key once; other keys are reported.
pub fn unique<'a>(
    sink: &mut Sink<'a>,
    slot: &Slot,
    pairs: &[(NodeId, NodeId)],
) -> Vec<(NodeId, NodeId, &'a str)> {
    let tree = sink.tree;
    let mut found: Vec<(NodeId, NodeId, &str)> = Vec::with_capacity(pairs.len());
    // Most mappings are small, where a linear search is faster than a hash table.
    let mut first: HashMap<&str, NodeId> = HashMap::new();
    let many = pairs.len() > FEW;
    for &(key, value) in pairs {
        let (key_node, _) = tree.resolve(key);
        let span = tree.node(key).span;
        let at = |path| Slot { node: key, alias: slot.alias, outer: slot.alias, key: span, path };
        let Kind::Scalar { text, .. } = &tree.node(key_node).kind else {
            sink.at(Code::WrongType, &at(slot.path), "a key must be a word");
            continue;
        };
        let earlier = if many {
            first.get(text.as_str()).copied()
        } else {
            found.iter().find(|(_, _, known)| known == text).map(|(key, ..)| *key)
        };
        let Some(earlier) = earlier else {
            if many {
                first.insert(text, key);
            }
            found.push((key, value, text.as_str()));
            continue;
        };
        let removal = sink.removal(span, value);
        let message = format!("duplicate key \"{text}\"");
        let report = sink.at_key(Code::DuplicateKey, &at(slot.path.key(key)), message);
        let report = report.related(tree.node(earlier).span, "first here");
        if let Some(edit) = removal {
            report.edits("remove this key", vec![edit]);
        }
    }
    found
}

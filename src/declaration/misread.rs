//! What is YAML, though never what was meant: found in the tree, so that it can be read again as what it looks like.

use super::yaml::{Kind, Style, Tree};
use crate::source::Span;

impl Tree {
    /// Places, in the parsed text, of `{{…}}` that stand without quotes and so are two mappings, innermost ones last.
    pub fn bare_templates(&self) -> Vec<Span> {
        let mut found: Vec<Span> = Vec::new();
        for node in &self.nodes {
            let Kind::Mapping(pairs) = &node.kind else { continue };
            let inner = pairs.first().map(|(key, _)| self.node(*key));
            let doubled = inner.is_some_and(|inner| {
                inner.flow && matches!(inner.kind, Kind::Mapping(_)) && inner.raw.start == node.raw.start + 1
            });
            let whole = self.patched().text()[node.raw.start..node.raw.end].ends_with("}}");
            if node.flow && doubled && whole && found.last().is_none_or(|last| last.end <= node.raw.start) {
                found.push(node.raw);
            }
        }
        found
    }

    /// Places, in the parsed text, of plain keys that start with such a character.
    pub fn keys_that_start(&self, with: fn(char) -> bool) -> Vec<Span> {
        let pairs = self.nodes.iter().filter_map(|node| match &node.kind {
            Kind::Mapping(pairs) => Some(pairs),
            _ => None,
        });
        let keys = pairs.flatten().map(|(key, _)| self.node(*key));
        keys.filter(
            |key| matches!(&key.kind, Kind::Scalar { text, style: Style::Plain } if text.starts_with(with)),
        )
        .map(|key| key.raw)
        .collect()
    }
}

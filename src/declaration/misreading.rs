//! Finds valid YAML that is never what was meant, so that it can be read again as what it looks like.

use super::keys::KEYS;
use super::yaml::{Kind, NodeId, Style, Tree};
use crate::lookalike;
use crate::source::Span;

impl Tree {
    /// Whether the tree has anchors or aliases.
    pub fn has_aliases(&self) -> bool {
        self.anchored
    }

    /// Whether reading stopped inside this collection, so that keys may be missing only because they were not read.
    pub fn is_unfinished(&self, id: NodeId) -> bool {
        self.unfinished.contains(&id)
    }

    /// Positions in the parsed text of `{{…}}` without quotes, which are two mappings to YAML; inner ones last.
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

    /// Keys in brackets that contain their own value, because there is no space after the colon: the position of the
    /// key in the parsed text, and of the gap between colon and value, which may be a look-alike of a space. Keys that
    /// are reserved for users are left out.
    pub fn tight_colons(&self) -> Vec<(Span, Span)> {
        let own = self.own_keys();
        let is_own = |at: usize| {
            let next = own.partition_point(|span| span.start <= at);
            next.checked_sub(1).is_some_and(|last| at < own[last].end)
        };
        let mut found = Vec::new();
        for node in self.nodes.iter().filter(|node| node.flow) {
            let Kind::Mapping(pairs) = &node.kind else { continue };
            for (key, value) in pairs {
                let Kind::Scalar { style: Style::Plain, .. } = self.node(*key).kind else { continue };
                let (key, value) = (self.node(*key).raw, self.node(*value).raw);
                if value.start == value.end && !is_own(key.start) {
                    let gap = tight_colon(&self.patched().text()[key.start..key.end]);
                    found.extend(gap.map(|gap| (key, Span::new(key.start + gap.start, key.start + gap.end))));
                }
            }
        }
        found
    }

    /// The spans of the outermost `x-…` keys with their values, in order.
    fn own_keys(&self) -> Vec<Span> {
        let pairs = self.nodes.iter().filter_map(|node| match &node.kind {
            Kind::Mapping(pairs) => Some(pairs),
            _ => None,
        });
        let own = |key: &NodeId| matches!(&self.node(*key).kind, Kind::Scalar { text, .. } if text.starts_with("x-"));
        let mut found: Vec<Span> = pairs
            .flatten()
            .filter(|(key, _)| own(key))
            .map(|(key, value)| Span::new(self.node(*key).raw.start, self.node(*value).raw.end))
            .collect();
        found.sort_by_key(|span| span.start);
        let mut reach = 0;
        found.retain(|span| {
            span.start >= reach && {
                reach = span.end;
                true
            }
        });
        found
    }

    /// Positions in the parsed text of unquoted keys and items that start with a look-alike of a dash or space, or that
    /// contain a look-alike of a key's colon or of a line break.
    pub fn odd_words(&self) -> Vec<Span> {
        let starts = |text: &str| text.starts_with(|c| lookalike::is_blank(c) || lookalike::is_like(c, "-"));
        let holds = |text: &str, sign: &str| text.contains(|c| lookalike::is_like(c, sign));
        let odd = |id: NodeId, is_key: bool, empty: bool| {
            let node = self.node(id);
            let Kind::Scalar { text, style: Style::Plain } = &node.kind else { return None };
            let key = if empty { holds(text, ":") } else { begins_with_key(text) };
            let odd =
                key || starts(text) || holds(text, "\n") || is_key && text.contains(lookalike::is_blank);
            (!text.is_ascii() && odd).then_some(node.raw)
        };
        let mut found = Vec::new();
        for node in &self.nodes {
            match &node.kind {
                Kind::Mapping(pairs) => {
                    let nothing = |id: NodeId| self.node(id).raw.start == self.node(id).raw.end;
                    found.extend(pairs.iter().filter_map(|(key, value)| odd(*key, true, nothing(*value))));
                }
                Kind::Sequence(items) if !node.flow => {
                    found.extend(items.iter().filter_map(|item| odd(*item, false, false)));
                }
                _ => {}
            }
        }
        found.extend(self.root().and_then(|root| odd(root, false, false)));
        found
    }
}

/// The gap between the colon and the value of `epic:x`. None if it may be one word, such as a URL.
fn tight_colon(text: &str) -> Option<Span> {
    let colon = text.find(':')?;
    let word = text[..colon].trim_end_matches(|c| c == ' ' || lookalike::is_blank(c));
    let after = &text[colon + 1..];
    let value = after.trim_start_matches(|c| c == ' ' || lookalike::is_blank(c));
    let is_word = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    let is_value = !value.is_empty() && !after.starts_with(['/', '\\', ':']);
    (is_word && is_value).then(|| Span::new(colon + 1, text.len() - value.len()))
}

/// Whether it starts with a key and a look-alike colon, or has an odd space around the colon: `agent：qa`.
fn begins_with_key(text: &str) -> bool {
    let word = &text[..text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len())];
    let after = text[word.len()..].trim_start_matches(|c| c == ' ' || lookalike::is_blank(c));
    KEYS.iter().any(|key| key.name == word) && after.starts_with(|c| c == ':' || lookalike::is_like(c, ":"))
}

//! Parses YAML into a tree in which every key and value has its position.
//!
//! The tree is an arena, built from granit-parser's events without recursion. Aliases remain references, so that
//! neither deep nor multiplied input costs more than its length.

use super::patch::Patched;
use super::scalar::{self, Core};
use super::scalar_spans::Places;
pub use super::style::Style;
use crate::source::Span;
use granit_parser::{Event, Options, Parser, ScalarStyle, ScanError, StructureStyle};
use std::collections::HashMap;

/// Maximum depth of collections, and maximum number of nodes after expanding aliases.
pub const MAX_DEPTH: usize = 64;
/// See [`MAX_DEPTH`].
pub const MAX_NODES: usize = 100_000;

/// Index of a node in its [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

impl NodeId {
    pub(super) const fn index(self) -> u32 {
        self.0
    }

    pub(super) const fn at(index: u32) -> Self {
        Self(index)
    }

    /// The id that is `by` nodes later.
    pub(super) fn shifted(self, by: usize) -> Self {
        Self(u32::try_from((self.0 as usize).wrapping_add(by)).unwrap_or(u32::MAX))
    }
}

/// What a node is.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A single value.
    Scalar {
        /// The value with escapes resolved.
        text: String,
        style: Style,
    },
    /// A list.
    Sequence(Vec<NodeId>),
    /// Keys and values in order, with duplicates.
    Mapping(Vec<(NodeId, NodeId)>),
    /// `*name`, with its target if that is known.
    Alias(Option<NodeId>),
}

#[derive(Clone, Debug)]
pub struct Node {
    /// Position in the source, with quotes and brackets. Empty for a missing value.
    pub span: Span,
    /// What it is.
    pub kind: Kind,
    /// Position of its tag (`!!str`), if any.
    pub tag: Option<Span>,
    /// Whether a collection is written in brackets.
    pub flow: bool,
    /// Position in the parsed text.
    pub(super) raw: Span,
}

/// Why a text could not be read further.
#[derive(Clone, Debug)]
pub struct Stop {
    /// Position in the parsed text.
    pub offset: usize,
    /// The parser's error.
    pub error: ScanError,
}

/// A document as a tree.
#[derive(Clone, Debug)]
pub struct Tree {
    patched: Patched,
    pub(super) nodes: Vec<Node>,
    root: Option<NodeId>,
    /// Whether the document has anchors or aliases.
    pub(super) anchored: bool,
    /// Number of levels below the root.
    pub(super) depth: usize,
    /// Number of nodes after expanding aliases.
    pub expanded: usize,
    /// Whether reading ended early, at [`MAX_NODES`].
    pub cut: bool,
    /// Start of the second document, if there is one.
    pub second_document: Option<Span>,
    /// Aliases without a target, or inside their own target.
    pub lost_aliases: Vec<NodeId>,
    /// The first alias that makes the tree too deep.
    pub too_deep: Option<Span>,
    /// Collections that were open when reading stopped, outermost first.
    pub(super) unfinished: Vec<NodeId>,
}

impl Tree {
    /// A tree without aliases whose first node is the root.
    pub(super) fn of(patched: Patched, nodes: Vec<Node>) -> Self {
        Self {
            patched,
            root: Some(NodeId(0)),
            anchored: false,
            depth: 0,
            expanded: nodes.len(),
            nodes,
            cut: false,
            second_document: None,
            lost_aliases: Vec::new(),
            too_deep: None,
            unfinished: Vec::new(),
        }
    }

    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// The text that was parsed.
    pub(super) fn patched(&self) -> &Patched {
        &self.patched
    }

    pub fn root(&self) -> Option<NodeId> {
        self.root
    }

    /// The node behind `id`, and the first alias on the way to it.
    pub fn resolve(&self, id: NodeId) -> (NodeId, Option<NodeId>) {
        match self.node(id).kind {
            // The target of an alias is never an alias.
            Kind::Alias(Some(target)) => (target, Some(id)),
            _ => (id, None),
        }
    }

    /// The type of a scalar in the core schema; none for other nodes.
    pub fn core(&self, id: NodeId) -> Option<Core> {
        let node = self.node(id);
        let Kind::Scalar { text, style } = &node.kind else { return None };
        Some(match (node.tag, style) {
            (None, Style::Plain) => scalar::core(text),
            _ => Core::Text,
        })
    }

    /// Source position of a part of a scalar's value.
    pub fn inside(&self, id: NodeId, part: Span) -> Span {
        self.place(id, &self.places(id), part)
    }

    /// Positions of the bytes of a scalar's value. The cost is linear in the length of the scalar.
    pub fn places(&self, id: NodeId) -> Places {
        let node = self.node(id);
        let raw = &self.patched.text()[node.raw.start..node.raw.end];
        match &node.kind {
            Kind::Scalar { text, style } => Places::new(raw, *style, text),
            _ => Places::new("", Style::Plain, ""),
        }
    }

    /// Source position of a part of the scalar with these positions.
    pub fn place(&self, id: NodeId, places: &Places, part: Span) -> Span {
        let start = self.node(id).raw.start;
        let place = places.place(part);
        Span::new(self.patched.to_source(start + place.start), self.patched.to_source(start + place.end))
    }

    /// Every node with its id, in the order of the text.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        (0u32..).map(NodeId).zip(&self.nodes)
    }
}

/// Parses `patched` as far as possible. If reading stops early, the tree contains everything before the error.
pub fn read(patched: &Patched) -> (Tree, Option<Stop>) {
    let mut options = Options::default();
    options.emit_unresolved_aliases = true;
    options.flow_nesting_limit = MAX_DEPTH;
    options.block_nesting_limit = MAX_DEPTH;
    options.set_emit_comments(false);
    let mut build = Build::new(patched);
    let mut stop = None;
    for event in Parser::new_from_str_with_options(patched.text(), options) {
        match event {
            Ok((event, span)) => {
                let range = span.byte_range().unwrap_or_default();
                let tag =
                    span.tag_span().and_then(|span| span.byte_range()).unwrap_or(range.start..range.start);
                let tag = build.source(Span::new(tag.start, tag.end));
                if !build.event(event, Span::new(range.start, range.end), tag) {
                    break;
                }
            }
            Err(error) => {
                let offset = error.marker().byte_offset().unwrap_or_default().min(patched.text().len());
                stop = Some(Stop { offset, error });
                break;
            }
        }
    }
    (build.finish(), stop)
}

/// An open collection, or the document.
struct Open {
    id: NodeId,
    anchor: usize,
    /// A mapping's key without its value.
    key: Option<NodeId>,
    /// Nodes in it, and levels below it, after expanding aliases.
    size: usize,
    depth: usize,
}

struct Build<'a> {
    patched: &'a Patched,
    tree: Tree,
    open: Vec<Open>,
    /// Targets of anchors by number, with size and depth once complete.
    anchors: HashMap<usize, (NodeId, Option<(usize, usize)>)>,
    documents: usize,
}

impl<'a> Build<'a> {
    fn new(patched: &'a Patched) -> Self {
        let tree = Tree { root: None, ..Tree::of(patched.clone(), Vec::new()) };
        Self { patched, tree, open: Vec::new(), anchors: HashMap::new(), documents: 0 }
    }

    /// Handles one event; returns false if later events do not matter.
    fn event(&mut self, event: Event<'_>, mut span: Span, tagged: Span) -> bool {
        if self.tree.nodes.len() > MAX_NODES {
            self.tree.cut = true;
            return false;
        }
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    self.tree.second_document = Some(self.source(span));
                    return false;
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                let style = match style {
                    ScalarStyle::Plain => Style::Plain,
                    ScalarStyle::SingleQuoted => Style::SingleQuoted,
                    ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
                    ScalarStyle::Literal => Style::Literal,
                    ScalarStyle::Folded => Style::Folded,
                };
                if matches!(style, Style::Literal | Style::Folded) {
                    span.end = span.start + self.patched.text()[span.start..span.end].trim_end().len();
                }
                // The parser reports a missing value as "~" with an empty span.
                let absent = span.start == span.end && style == Style::Plain;
                let text = if absent { String::new() } else { text.into_owned() };
                let id = self.add(span, Kind::Scalar { text, style }, false, tag.map(|_| tagged));
                self.anchor(anchor, id, Some((1, 0)));
                self.attach(id, 1, 0, span);
            }
            Event::SequenceStart(style, anchor, tag) => {
                let kind = Kind::Sequence(Vec::new());
                self.start(span, kind, style == StructureStyle::Flow, anchor, tag.map(|_| tagged));
            }
            Event::MappingStart(style, anchor, tag) => {
                let kind = Kind::Mapping(Vec::new());
                self.start(span, kind, style == StructureStyle::Flow, anchor, tag.map(|_| tagged));
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(Some(span)),
            Event::Alias(anchor) => {
                self.tree.anchored = true;
                let target = self.anchors.get(&anchor).copied();
                let complete = target.and_then(|(id, measure)| measure.map(|measure| (id, measure)));
                let id = self.add(span, Kind::Alias(complete.map(|(id, _)| id)), false, None);
                let (size, depth) = complete.map_or((1, 0), |(_, measure)| measure);
                if complete.is_none() {
                    self.tree.lost_aliases.push(id);
                }
                self.attach(id, size, depth, span);
            }
            Event::UnresolvedAlias(_) => {
                self.tree.anchored = true;
                let id = self.add(span, Kind::Alias(None), false, None);
                self.tree.lost_aliases.push(id);
                self.attach(id, 1, 0, span);
            }
            _ => {}
        }
        true
    }

    fn source(&self, span: Span) -> Span {
        Span::new(self.patched.to_source(span.start), self.patched.to_source(span.end))
    }

    fn add(&mut self, raw: Span, kind: Kind, flow: bool, tag: Option<Span>) -> NodeId {
        let id = NodeId(u32::try_from(self.tree.nodes.len()).unwrap_or(u32::MAX));
        self.tree.nodes.push(Node { span: self.source(raw), kind, tag, flow, raw });
        id
    }

    fn anchor(&mut self, anchor: usize, id: NodeId, measure: Option<(usize, usize)>) {
        if anchor != 0 {
            self.tree.anchored = true;
            self.anchors.insert(anchor, (id, measure));
        }
    }

    fn start(&mut self, span: Span, kind: Kind, flow: bool, anchor: usize, tag: Option<Span>) {
        let id = self.add(span, kind, flow, tag);
        self.anchor(anchor, id, None);
        self.open.push(Open { id, anchor, key: None, size: 1, depth: 0 });
    }

    /// Closes the innermost open collection; without a span if the text stopped inside it.
    fn close(&mut self, end: Option<Span>) {
        let Some(open) = self.open.pop() else { return };
        if let Some(key) = open.key {
            // This happens only if the text stopped between a key and its value.
            let at = self.tree.node(key).raw.end;
            let empty = Kind::Scalar { text: String::new(), style: Style::Plain };
            let value = self.add(Span::new(at, at), empty, false, None);
            if let Kind::Mapping(pairs) = &mut self.tree.nodes[open.id.0 as usize].kind {
                pairs.push((key, value));
            }
        }
        let last = match &self.tree.node(open.id).kind {
            Kind::Sequence(items) => items.last().copied(),
            Kind::Mapping(pairs) => pairs.last().map(|(_, value)| *value),
            _ => None,
        };
        // An empty last value is at its key's colon or later, so the end of the key counts.
        let inner = last.map_or(self.tree.node(open.id).raw.end, |last| self.tree.node(last).raw.end);
        let node = &self.tree.nodes[open.id.0 as usize];
        let end = if node.flow { end.map_or(inner, |end| end.end.max(inner)) } else { inner };
        let raw = Span::new(node.raw.start, end.max(node.raw.start));
        let span = self.source(raw);
        let node = &mut self.tree.nodes[open.id.0 as usize];
        (node.raw, node.span) = (raw, span);
        self.anchor(open.anchor, open.id, Some((open.size, open.depth)));
        self.attach(open.id, open.size, open.depth, raw);
    }

    /// Adds a complete node to its collection.
    fn attach(&mut self, id: NodeId, size: usize, depth: usize, span: Span) {
        let level = self.open.len();
        if level + depth > MAX_DEPTH && self.tree.too_deep.is_none() {
            self.tree.too_deep = Some(self.source(span));
        }
        let Some(open) = self.open.last_mut() else {
            self.tree.root.get_or_insert(id);
            self.tree.depth = self.tree.depth.max(depth);
            self.tree.expanded = self.tree.expanded.saturating_add(size);
            return;
        };
        open.size = open.size.saturating_add(size);
        open.depth = open.depth.max(depth + 1);
        match &mut self.tree.nodes[open.id.0 as usize].kind {
            Kind::Sequence(items) => items.push(id),
            Kind::Mapping(pairs) => match open.key.take() {
                None => open.key = Some(id),
                Some(key) => pairs.push((key, id)),
            },
            _ => {}
        }
    }

    fn finish(mut self) -> Tree {
        self.tree.unfinished = self.open.iter().map(|open| open.id).collect();
        while !self.open.is_empty() {
            self.close(None);
        }
        self.tree
    }
}

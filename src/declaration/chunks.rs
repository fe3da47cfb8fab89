//! Reads an edited text again without parsing all of it.
//!
//! Most of a long declaration is its list of stages, and an edit changes one stage. So the text is cut before every
//! stage, each piece is parsed alone, and the result is cached: next time only changed pieces are parsed. The joined
//! tree equals the tree of a full parse. If that is not certain (a piece with a syntax error, anchors, several
//! documents, …) the whole text is parsed.

use super::patch::Patched;
use super::yaml::{self, Kind, MAX_DEPTH, MAX_NODES, Node, NodeId, Stop, Style, Tree};
use crate::source::Span;
use std::sync::Arc;

/// Shorter texts are parsed quickly enough without chunks.
const WORTH_IT: usize = 8 * 1024;
/// Number of failed attempts to cut a text under repair before chunks are given up.
const TRIES: usize = 4;

/// The parsed pieces of one text.
#[derive(Debug)]
pub struct Chunks {
    /// Shorter texts are not cut.
    least: usize,
    /// Failed attempts to use chunks since the last edit.
    misses: usize,
    read: Vec<Chunk>,
}

/// For a text that is parsed once, as a whole.
impl Default for Chunks {
    fn default() -> Self {
        Self::for_texts_of(usize::MAX)
    }
}

/// A parsed piece; offsets and ids are relative to its start.
#[derive(Clone, Debug)]
struct Chunk {
    kind: Piece,
    text: Box<str>,
    nodes: Arc<[Node]>,
}

/// Where the text is cut.
struct Cuts {
    /// The pieces: the text before the list, the items, and the text after the list, if any. They overlap by the
    /// indentation of the next item, so that each piece ends exactly where the parser finds that item.
    pieces: Vec<Span>,
    has_tail: bool,
}

impl Chunks {
    /// For a text that is edited.
    pub fn of_edited() -> Self {
        Self::for_texts_of(WORTH_IT)
    }

    /// For a text that is edited; texts with fewer bytes are parsed as a whole.
    pub fn for_texts_of(least: usize) -> Self {
        Self { least, misses: 0, read: Vec::new() }
    }

    /// Starts a new edit.
    pub fn begin(&mut self) {
        self.misses = 0;
    }

    /// Parses `patched`, and returns also how many bytes were parsed.
    pub fn read(&mut self, patched: &Patched) -> (Tree, Option<Stop>, usize) {
        if self.misses < TRIES && patched.text().len() >= self.least {
            if let Some((tree, bytes)) = self.in_pieces(patched) {
                return (tree, None, bytes);
            }
            self.misses += 1;
        }
        let (tree, stop) = yaml::read(patched);
        let bytes = stop.as_ref().map_or(patched.text().len(), |stop| stop.offset);
        (tree, stop, bytes)
    }

    fn in_pieces(&mut self, patched: &Patched) -> Option<(Tree, usize)> {
        let text = patched.text();
        let cuts = cuts(text)?;
        let piece = |at: usize| &text[cuts.pieces[at].start..cuts.pieces[at].end];
        let (new, old) = (cuts.pieces.len(), self.read.len());
        let kind = |at: usize| match at {
            0 => Piece::Head,
            _ if at + 1 == new && cuts.has_tail => Piece::Tail,
            _ => Piece::Item,
        };
        // Pieces that are equal from the start or from the end are cached.
        let known = |at: usize, other: usize| {
            let other = &self.read[other];
            other.kind == kind(at) && *other.text == *piece(at)
        };
        let most = new.min(old);
        let front = (0..most).take_while(|&at| known(at, at)).count();
        let back = (1..=most - front).take_while(|&from| known(new - from, old - from)).count();
        let mut read: Vec<Chunk> = Vec::with_capacity(new);
        read.extend_from_slice(&self.read[..front]);
        let mut bytes = 0;
        for at in front..new - back {
            bytes += piece(at).len();
            let nodes = chunk(piece(at), kind(at))?;
            read.push(Chunk { kind: kind(at), text: piece(at).into(), nodes });
        }
        read.extend_from_slice(&self.read[old - back..]);
        self.read = read;
        Some((assemble(patched, &cuts, &self.read)?, bytes))
    }
}

/// Cuts a text before each item of its list of stages.
fn cuts(text: &str) -> Option<Cuts> {
    if text.starts_with('\u{feff}') || text.contains('\r') {
        return None;
    }
    let mut pieces: Vec<Span> = Vec::new();
    let (mut in_list, mut indent, mut start, mut at) = (false, None, 0, 0);
    let mut tail = None;
    for line in text.split_inclusive('\n') {
        let from = at;
        at += line.len();
        if line.starts_with(['-', '.', '%']) && ["---", "...", "%"].iter().any(|it| line.starts_with(it)) {
            return None;
        }
        let content = line.trim_start_matches(' ');
        let column = line.len() - content.len();
        if content.trim().is_empty() || content.starts_with('#') || tail.is_some() {
            continue;
        }
        let dash = content.starts_with("- ") || content.trim_end() == "-";
        if !in_list {
            let rest = line.strip_prefix("stages:").map(str::trim);
            in_list = rest.is_some_and(|rest| rest.is_empty());
        } else if dash && column == *indent.get_or_insert(column) {
            pieces.push(Span::new(start, from + column));
            start = from;
        } else if indent.is_none() || (column < indent? && column > 0) {
            return None;
        } else if column < indent? || (column == 0 && !dash) {
            tail = Some(from);
        }
    }
    indent?;
    pieces.push(Span::new(start, tail.unwrap_or(text.len())));
    pieces.extend(tail.map(|tail| Span::new(tail, text.len())));
    Some(Cuts { pieces, has_tail: tail.is_some() })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    Head,
    Item,
    Tail,
}

/// Parses a piece, if it is complete in itself.
fn chunk(text: &str, kind: Piece) -> Option<Arc<[Node]>> {
    let (mut tree, stop) = yaml::read(&Patched::new(text));
    let closed = stop.is_none() && !tree.cut && tree.second_document.is_none() && !tree.anchored;
    // In the whole tree, the piece is deeper by the list around it.
    let fits = closed && tree.depth + 4 < MAX_DEPTH && tree.root()?.index() == 0;
    let root = tree.nodes.first().filter(|root| fits && !root.flow && root.tag.is_none())?;
    // A block of blank lines has another value at the end of a text.
    if matches!(&tree.nodes.last()?.kind, Kind::Scalar { text, style: Style::Literal | Style::Folded } if text.trim().is_empty())
    {
        return None;
    }
    let right = match (&root.kind, kind) {
        (Kind::Sequence(items), Piece::Item) => items.len() == 1,
        (Kind::Mapping(_), Piece::Tail) => root.raw.start == 0,
        (Kind::Mapping(pairs), Piece::Head) => {
            let (key, value) = *pairs.last()?;
            let is = |id: NodeId, word: &str| {
                let node = tree.node(id);
                matches!(&node.kind, Kind::Scalar { text, .. } if text == word) && node.tag.is_none()
            };
            is(key, "stages") && is(value, "") && value.index() as usize + 1 == tree.nodes.len()
        }
        _ => false,
    };
    right.then(|| std::mem::take(&mut tree.nodes).into())
}

/// Joins the pieces.
fn assemble(patched: &Patched, cuts: &Cuts, chunks: &[Chunk]) -> Option<Tree> {
    let total = chunks.iter().map(|chunk| chunk.nodes.len()).sum::<usize>();
    if total > MAX_NODES {
        return None;
    }
    let mut join = Join { patched, nodes: Vec::with_capacity(total) };
    let mut chunks = chunks.iter().zip(&cuts.pieces);
    let (head, at) = chunks.next()?;
    join.put(head, at.start, 0);
    // The list is the value that the head lacks.
    let list = join.nodes.len() - 1;
    let mut items = Vec::with_capacity(cuts.pieces.len());
    let mut pairs = Vec::new();
    for (index, (chunk, at)) in chunks.enumerate() {
        let shift = join.nodes.len() - 1;
        let root = &chunk.nodes[0];
        match &root.kind {
            Kind::Sequence(children) => {
                items.extend(children.iter().map(|id| id.shifted(shift)));
                if index == 0 {
                    // For the parser, a list that is not indented starts after its first dash.
                    let blank = chunk.text[1..].bytes().take_while(|byte| *byte == b' ').count();
                    let dash = if root.raw.start == 0 { 1 + blank } else { 0 };
                    if chunk.text[dash..].starts_with('#') {
                        return None;
                    }
                    let start = at.start + root.raw.start + dash;
                    let raw = Span::new(start, start);
                    let kind = Kind::Sequence(Vec::new());
                    join.nodes[list] = Node { span: raw, kind, tag: None, flow: false, raw };
                }
            }
            Kind::Mapping(own) => {
                pairs.extend(own.iter().map(|(key, value)| (key.shifted(shift), value.shifted(shift))));
            }
            _ => return None,
        }
        join.put(chunk, at.start, 1);
    }
    let mut nodes = join.nodes;
    let last = *items.last()?;
    let end = nodes[last.index() as usize].raw.end;
    let finish = |node: &mut Node, end: usize| {
        node.raw.end = end.max(node.raw.start);
        node.span = Span::new(patched.to_source(node.raw.start), patched.to_source(node.raw.end));
    };
    nodes[list].kind = Kind::Sequence(items);
    finish(&mut nodes[list], end);
    let end = pairs.last().map_or(nodes[list].raw.end, |(_, value)| nodes[value.index() as usize].raw.end);
    if let Kind::Mapping(own) = &mut nodes[0].kind {
        own.extend(pairs);
    }
    finish(&mut nodes[0], end);
    Some(Tree::of(patched.clone(), nodes))
}

struct Join<'a> {
    patched: &'a Patched,
    nodes: Vec<Node>,
}

impl Join<'_> {
    /// Adds the nodes of a piece, except for the first few.
    fn put(&mut self, chunk: &Chunk, base: usize, without: usize) {
        let shift = self.nodes.len().wrapping_sub(without);
        let patched = self.patched;
        let source =
            |span: Span| Span::new(patched.to_source(span.start + base), patched.to_source(span.end + base));
        self.nodes.extend(chunk.nodes[without..].iter().map(|node| Node {
            span: source(node.raw),
            kind: match &node.kind {
                Kind::Sequence(items) => Kind::Sequence(items.iter().map(|id| id.shifted(shift)).collect()),
                Kind::Mapping(pairs) => Kind::Mapping(
                    pairs.iter().map(|(key, value)| (key.shifted(shift), value.shifted(shift))).collect(),
                ),
                other => other.clone(),
            },
            tag: node.tag.map(source),
            flow: node.flow,
            raw: Span::new(node.raw.start + base, node.raw.end + base),
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unchanged_pieces_are_reused() {
        let mut chunks = Chunks::for_texts_of(0);
        let mut stops = |text: &str| {
            let (_, stop, bytes) = chunks.read(&Patched::new(text));
            (stop.is_some(), bytes)
        };
        assert_eq!(stops("stages:\n- gate: auto\n- agent: b\n"), (false, 32));
        assert_eq!(stops("stages:\n- gate: no\n- agent: b\n"), (false, 11), "what has changed");
        assert!(stops("stages:\n  - gate: no\n- agent: b\n").0, "an item there, unreadable here");
        assert_eq!(
            stops("stages:\n- gate: no\n- agent: b\n"),
            (false, 0),
            "nothing has changed since it was read"
        );
    }
}

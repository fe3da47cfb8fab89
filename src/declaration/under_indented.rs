//! Finds lines of a quoted text or a list in brackets that are not indented enough. The parser accepts them, but YAML
//! does not allow them and other readers refuse the file.

use super::line::Line;
use super::yaml::{Kind, Node, NodeId, Style, Tree};
use crate::source::Span;

/// A line that is not indented enough.
#[derive(Clone, Debug)]
pub struct Shallow {
    /// Its first word, or the tabs before it.
    pub span: Span,
    /// Whether the problem is a tab in place of spaces.
    pub tab: bool,
    /// Whether the line only closes the bracket; most readers accept that.
    pub closing: bool,
    /// Its white space, and the required number of spaces.
    pub indentation: (Span, usize),
}

impl Tree {
    /// All such lines, grouped by value.
    pub fn shallow_lines(&self) -> Vec<Vec<Shallow>> {
        let mut found = Vec::new();
        for node in self.nodes.iter().filter(|node| !node.flow) {
            match &node.kind {
                Kind::Mapping(pairs) => {
                    for (key, value) in pairs {
                        self.look(*value, || Some(self.key_column(*key)), &mut found);
                    }
                }
                Kind::Sequence(items) => {
                    for item in items {
                        self.look(*item, || self.dash_column(node, items), &mut found);
                    }
                }
                _ => {}
            }
        }
        found
    }

    fn look(&self, id: NodeId, column: impl Fn() -> Option<usize>, found: &mut Vec<Vec<Shallow>>) {
        let node = self.node(id);
        let text = &self.patched().text()[node.raw.start..node.raw.end];
        let quoted =
            matches!(&node.kind, Kind::Scalar { style: Style::DoubleQuoted | Style::SingleQuoted, .. });
        if !(quoted || node.flow) || !text.contains('\n') {
            return;
        }
        let Some(column) = column() else { return };
        let lines: Vec<Shallow> = text
            .match_indices('\n')
            .filter_map(|(at, _)| self.shallow(node, node.raw.start + at + 1, column))
            .collect();
        if !lines.is_empty() {
            found.push(lines);
        }
    }

    /// The line that starts at `start`, if it is not indented enough.
    fn shallow(&self, node: &Node, start: usize, column: usize) -> Option<Shallow> {
        let text = &self.patched().text()[start..node.raw.end];
        let line = text.split('\n').next()?;
        let content = line.trim_start_matches([' ', '\t']);
        let blank = line.len() - content.len();
        let spaces = line.len() - line.trim_start_matches(' ').len();
        let comment = node.flow && content.starts_with('#');
        if spaces > column || content.trim().is_empty() || comment {
            return None;
        }
        let tab = line[spaces..].starts_with('\t');
        let word = content.len() - content.trim_start_matches(|c: char| !c.is_whitespace()).len();
        let source = |from: usize, to: usize| {
            Span::new(self.patched().to_source(start + from), self.patched().to_source(start + to))
        };
        Some(Shallow {
            span: if tab { source(spaces, blank) } else { source(blank, blank + word) },
            tab,
            closing: node.flow && start + blank + 1 == node.raw.end,
            indentation: (source(0, blank), column + 2),
        })
    }

    fn key_column(&self, key: NodeId) -> usize {
        Line::at(self.patched().text(), self.node(key).raw.start).column()
    }

    /// Column of a list's dashes; none if it is not clear.
    fn dash_column(&self, list: &Node, items: &[NodeId]) -> Option<usize> {
        let text = self.patched().text();
        let first = self.node(*items.first()?).raw.start;
        // For the parser, a list that is not indented starts after its first dash.
        let dash = if first > list.raw.start {
            list.raw.start
        } else {
            let before = text[..list.raw.start].trim_end();
            before.ends_with('-').then(|| before.len() - 1)?
        };
        let line = text[..dash].rfind('\n').map_or(0, |at| at + 1);
        Some(dash - line)
    }
}

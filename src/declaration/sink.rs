//! Collects problems, each at the position where the author can fix it.

use super::draft::{Slot, Text};
use super::lookalikes;
use super::scalar_spans::Places;
use super::yaml::{Kind, NodeId, Style, Tree};
use super::yaml_writer;
use crate::diagnostic::{Code, Diagnostic, Edit, Fix, Related, Severity};
use crate::source::{Source, Span};
use crate::suggest;
use std::collections::{HashMap, HashSet};

/// Maximum number of reported problems with the same code and severity. A hostile file can have a hundred thousand.
const MAX_ALIKE: usize = 200;

/// Maximum number of names that are compared for "did you mean".
const MAX_COMPARED: usize = 100_000;

/// Collects the problems of one declaration.
#[derive(Debug)]
pub struct Sink<'a> {
    pub source: &'a Source,
    pub tree: &'a Tree,
    found: Found,
    /// The scalar spans of the text that was used last.
    places: Option<(NodeId, Places)>,
    comparable: usize,
    /// Ranges that were blanked after syntax errors: a key that seems to be missing there may only be unreadable.
    blanks: &'a [Span],
}

impl<'a> Sink<'a> {
    /// Starts with the problems that were found in the text itself.
    pub fn new(source: &'a Source, tree: &'a Tree, blanks: &'a [Span], found: Vec<Diagnostic>) -> Self {
        let mut all = Found::default();
        found.into_iter().for_each(|diagnostic| all.push(diagnostic));
        Self { source, tree, found: all, places: None, comparable: MAX_COMPARED, blanks }
    }

    /// Whether there is unreadable text in `span` or directly after it.
    pub fn is_blanked(&self, span: Span) -> bool {
        self.blanks.iter().any(|&blank| self.touch(span, blank))
    }

    /// Whether only white space and dashes are between the two offsets.
    fn touch(&self, a: Span, b: Span) -> bool {
        let (first, second) = if a.start <= b.start { (a, b) } else { (b, a) };
        let between = self.source.text().get(first.end..second.start).unwrap_or_default();
        between.chars().all(|c| c.is_whitespace() || c == '-')
    }

    /// Whether unreadable text may contain a key of the mapping at `node`.
    pub fn may_lack_keys(&self, node: NodeId) -> bool {
        if self.tree.is_unfinished(node) {
            return true;
        }
        let span = self.tree.node(node).span;
        let own = self.source.position(span.start).col;
        self.blanks.iter().any(|&blank| {
            let at = self.source.position(blank.start);
            let before = self.source.slice(Span::new(self.source.line_start(at.line), blank.start));
            let to_the_end = blank.end >= self.source.text().len();
            let lines = before.trim_matches([' ', '\t', '-']).is_empty() && at.col <= own;
            (lines || to_the_end) && self.touch(span, blank)
        })
    }

    /// Reports a problem of a whole value: at its key if the value is missing, at the alias if it was used through one.
    pub fn at(&mut self, code: Code, slot: &Slot, message: impl Into<String>) -> Report<'_> {
        let own = self.tree.node(slot.node).span;
        self.push(code, slot, own, message.into())
    }

    /// Reports a problem in a part of a text.
    pub fn inside(&mut self, code: Code, text: &Text, part: Span, message: impl Into<String>) -> Report<'_> {
        let node = text.slot.node;
        if self.places.as_ref().is_none_or(|(last, _)| *last != node) {
            self.places = Some((node, self.tree.places(node)));
        }
        let own =
            self.places.as_ref().map_or(Span::default(), |(_, places)| self.tree.place(node, places, part));
        let mut report = self.push(code, &text.slot, own, message.into());
        report.inside = Some((node, part));
        report
    }

    /// Reports a problem of a key.
    pub fn at_key(&mut self, code: Code, slot: &Slot, message: impl Into<String>) -> Report<'_> {
        let mut diagnostic =
            Diagnostic::new(code, slot.outer.unwrap_or(slot.key), slot.path.words(self.tree), message);
        if slot.outer.is_some() {
            diagnostic = diagnostic.with_related(slot.key, "the aliased value");
        }
        self.add(diagnostic, slot.outer.is_none())
    }

    /// An edit that removes a key and its value, if their lines contain nothing else.
    pub fn removal(&self, key: Span, value: NodeId) -> Option<Edit> {
        let source = self.source;
        let start = source.line_start(source.position(key.start).line);
        let last = source.position(self.tree.node(value).span.end.max(key.end)).line;
        let before = source.slice(Span::new(start, key.start));
        let rest = source.slice(Span::new(key.end, source.line_start(last + 1)));
        let alone = before.trim().is_empty() && !self.tree.node(value).flow && rest.ends_with('\n');
        // In brackets, a comma or a bracket follows; quotes may contain anything.
        let plain = !rest.trim_end().ends_with(['}', ',', ']']);
        (alone && plain)
            .then(|| Edit { span: Span::new(start, source.line_start(last + 1)), text: String::new() })
    }

    /// The line break used in the text.
    pub fn line_break(&self) -> &'static str {
        if self.source.text().contains("\r\n") { "\r\n" } else { "\n" }
    }

    fn push(&mut self, code: Code, slot: &Slot, own: Span, message: String) -> Report<'_> {
        let nothing = self.tree.node(slot.node).span;
        let own = if nothing.start == nothing.end && own.start == own.end { slot.key } else { own };
        let mut diagnostic =
            Diagnostic::new(code, slot.alias.unwrap_or(own), slot.path.words(self.tree), message);
        if slot.alias.is_some() {
            diagnostic = diagnostic.with_related(own, "the aliased value");
        }
        self.add(diagnostic, slot.alias.is_none())
    }

    fn add(&mut self, diagnostic: Diagnostic, fixable: bool) -> Report<'_> {
        Report {
            found: &mut self.found,
            diagnostic: Some(diagnostic),
            fixable,
            inside: None,
            tree: self.tree,
        }
    }

    /// The name that was probably meant, unless too many names were compared already.
    pub fn nearest<'c>(
        &mut self,
        name: &str,
        candidates: impl IntoIterator<Item = &'c str>,
    ) -> Option<&'c str> {
        let left = &mut self.comparable;
        let allowed = candidates.into_iter().take_while(|_| {
            *left = left.saturating_sub(1);
            *left > 0
        });
        suggest::nearest(name, allowed)
    }

    /// All problems, in the order of the text.
    pub fn finish(self) -> Vec<Diagnostic> {
        let Found { mut diagnostics, more, .. } = self.found;
        diagnostics.sort_by_key(|diagnostic| diagnostic.span);
        diagnostics.iter_mut().for_each(|found| lookalikes::explain(self.source, self.tree, found));
        // A problem is reported once, even if several aliases lead to it.
        let mut told = HashSet::new();
        diagnostics.retain(|found| told.insert((found.span, found.code, found.message.clone())));
        if more > 0 {
            let message = format!("{more} more problems of this kind are not shown");
            let end = Span::new(self.source.text().len(), self.source.text().len());
            let mut note = Diagnostic::new(Code::Limit, end, "", message);
            note.severity = Severity::Hint;
            diagnostics.push(note);
        }
        diagnostics
    }
}

/// The problems found so far, limited per kind.
#[derive(Debug, Default)]
struct Found {
    diagnostics: Vec<Diagnostic>,
    alike: HashMap<(Code, Severity), usize>,
    more: usize,
}

impl Found {
    fn push(&mut self, diagnostic: Diagnostic) {
        let alike = self.alike.entry((diagnostic.code, diagnostic.severity)).or_default();
        *alike += 1;
        if *alike > MAX_ALIKE {
            self.more += 1;
        } else {
            self.diagnostics.push(diagnostic);
        }
    }
}

/// A problem that is being reported. It is recorded when this value is dropped.
#[derive(Debug)]
pub struct Report<'a> {
    found: &'a mut Found,
    diagnostic: Option<Diagnostic>,
    /// False if the problem came through an alias: other uses of the anchor may be right.
    fixable: bool,
    /// The scalar, and the part of its value that the problem is about, if it is about a part only.
    inside: Option<(NodeId, Span)>,
    tree: &'a Tree,
}

impl Drop for Report<'_> {
    fn drop(&mut self) {
        if let Some(diagnostic) = self.diagnostic.take() {
            self.found.push(diagnostic);
        }
    }
}

impl<'a> Report<'a> {
    fn change(mut self, change: impl FnOnce(&mut Diagnostic)) -> Self {
        if let Some(diagnostic) = &mut self.diagnostic {
            change(diagnostic);
        }
        self
    }

    /// The tree, for the positions of edits.
    pub fn tree(&self) -> &'a Tree {
        self.tree
    }

    /// Narrows the reported span.
    pub fn narrow(self, span: Span) -> Self {
        let own = self.fixable;
        self.change(|diagnostic| diagnostic.span = if own { span } else { diagnostic.span })
    }

    /// Adds a fix that replaces the reported span.
    pub fn fix(self, title: impl Into<String>, text: impl Into<String>) -> Self {
        let span = self.diagnostic.as_ref().map_or(Span::default(), |diagnostic| diagnostic.span);
        let edit = match self.inside {
            Some((node, part)) => scalar_edit(self.tree, node, part, span, &text.into()),
            None => Edit { span, text: text.into() },
        };
        self.edits(title, vec![edit])
    }

    /// Adds a fix with these edits.
    pub fn edits(self, title: impl Into<String>, edits: Vec<Edit>) -> Self {
        let fix = self.fixable.then(|| Fix { title: title.into(), edits });
        self.change(|diagnostic| diagnostic.fix = fix.or_else(|| diagnostic.fix.take()))
    }

    /// Adds a related position.
    pub fn related(self, span: Span, message: impl Into<String>) -> Self {
        self.change(|diagnostic| diagnostic.related.push(Related { span, message: message.into() }))
    }

    /// Overrides the code's usual severity.
    pub fn severity(self, severity: Severity) -> Self {
        self.change(|diagnostic| diagnostic.severity = severity)
    }
}

/// An edit that replaces a part of a scalar's value in the scalar's style. If the result needs quotes, the whole value
/// is quoted.
fn scalar_edit(tree: &Tree, node: NodeId, part: Span, span: Span, text: &str) -> Edit {
    let Kind::Scalar { text: value, style } = &tree.node(node).kind else {
        return Edit { span, text: text.to_owned() };
    };
    let whole = [&value[..part.start], text, &value[part.end..]].concat();
    let own = tree.node(node);
    let part = match style {
        Style::DoubleQuoted => yaml_writer::inside(text, '"'),
        Style::SingleQuoted => yaml_writer::inside(text, '\''),
        Style::Plain => yaml_writer::is_plain_safe(&whole, own.flow).then(|| text.to_owned()),
        Style::Literal | Style::Folded => yaml_writer::inside(text, '\'').map(|_| text.to_owned()),
    };
    match part {
        Some(text) => Edit { span, text },
        None => {
            let is_block = matches!(style, Style::Literal | Style::Folded);
            let end = if is_block { "\n" } else { "" };
            Edit { span: own.span, text: yaml_writer::quoted(&whole) + end }
        }
    }
}

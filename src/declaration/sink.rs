//! Where faults are collected, each at the place that an author can act on.

use super::draft::{Slot, Text};
use super::lookalikes;
use super::scalar_spans::Places;
use super::yaml::{Kind, NodeId, Style, Tree};
use super::yaml_writer;
use crate::diagnostic::{Code, Diagnostic, Edit, Fix, Related, Severity};
use crate::source::{Source, Span};
use crate::suggest;
use std::collections::{HashMap, HashSet};

/// How many faults of one code and severity are told; nobody reads more, and a hostile file has a hundred thousand.
const MAX_ALIKE: usize = 200;

/// How many names are compared for "did you mean".
const MAX_COMPARED: usize = 100_000;

/// Collects the faults of one declaration.
#[derive(Debug)]
pub struct Sink<'a> {
    /// The text.
    pub source: &'a Source,
    /// What was read from it.
    pub tree: &'a Tree,
    found: Found,
    /// The places of the text that was last looked into.
    places: Option<(NodeId, Places)>,
    comparable: usize,
    /// Where syntax errors were blanked: what seems to be missing there may only be unreadable.
    blanks: &'a [Span],
}

impl<'a> Sink<'a> {
    /// With what was found in the text as such.
    pub fn new(source: &'a Source, tree: &'a Tree, blanks: &'a [Span], found: Vec<Diagnostic>) -> Self {
        let mut all = Found::default();
        found.into_iter().for_each(|diagnostic| all.push(diagnostic));
        Self { source, tree, found: all, places: None, comparable: MAX_COMPARED, blanks }
    }

    /// Whether something unreadable stands in `span`, or directly behind it.
    pub fn is_blanked(&self, span: Span) -> bool {
        self.blanks.iter().any(|&blank| self.touch(span, blank))
    }

    /// Whether nothing but white space and dashes stands between the two.
    fn touch(&self, a: Span, b: Span) -> bool {
        let (first, second) = if a.start <= b.start { (a, b) } else { (b, a) };
        let between = self.source.text().get(first.end..second.start).unwrap_or_default();
        between.chars().all(|c| c.is_whitespace() || c == '-')
    }

    /// Whether a key of the mapping at `node` may be among what could not be read.
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

    /// Reports a fault of a whole value; at its key where the value is not there, at the alias where it was used by one.
    pub fn at(&mut self, code: Code, slot: &Slot, message: impl Into<String>) -> Report<'_> {
        let own = self.tree.node(slot.node).span;
        self.push(code, slot, own, message.into())
    }

    /// Reports a fault of a part of a text.
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

    /// Reports a fault of a key.
    pub fn at_key(&mut self, code: Code, slot: &Slot, message: impl Into<String>) -> Report<'_> {
        let mut diagnostic =
            Diagnostic::new(code, slot.outer.unwrap_or(slot.key), slot.path.words(self.tree), message);
        if slot.outer.is_some() {
            diagnostic = diagnostic.with_related(slot.key, "what the alias stands for");
        }
        self.add(diagnostic, slot.outer.is_none())
    }

    /// The removal of a key and its value, where their lines hold nothing else.
    pub fn removal(&self, key: Span, value: NodeId) -> Option<Edit> {
        let source = self.source;
        let start = source.line_start(source.position(key.start).line);
        let last = source.position(self.tree.node(value).span.end.max(key.end)).line;
        let before = source.slice(Span::new(start, key.start));
        let rest = source.slice(Span::new(key.end, source.line_start(last + 1)));
        let alone = before.trim().is_empty() && !self.tree.node(value).flow && rest.ends_with('\n');
        // In brackets a comma or bracket follows; quotes may hold anything.
        let plain = !rest.trim_end().ends_with(['}', ',', ']']);
        (alone && plain)
            .then(|| Edit { span: Span::new(start, source.line_start(last + 1)), text: String::new() })
    }

    /// The line break that the text uses.
    pub fn line_break(&self) -> &'static str {
        if self.source.text().contains("\r\n") { "\r\n" } else { "\n" }
    }

    fn push(&mut self, code: Code, slot: &Slot, own: Span, message: String) -> Report<'_> {
        let nothing = self.tree.node(slot.node).span;
        let own = if nothing.start == nothing.end && own.start == own.end { slot.key } else { own };
        let mut diagnostic =
            Diagnostic::new(code, slot.alias.unwrap_or(own), slot.path.words(self.tree), message);
        if slot.alias.is_some() {
            diagnostic = diagnostic.with_related(own, "what the alias stands for");
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

    /// The name that was probably meant, as long as not too many have been compared.
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

    /// Everything that was found, in the order of the text.
    pub fn finish(self) -> Vec<Diagnostic> {
        let Found { mut diagnostics, more, .. } = self.found;
        diagnostics.sort_by_key(|diagnostic| diagnostic.span);
        diagnostics.iter_mut().for_each(|found| lookalikes::explain(self.source, self.tree, found));
        // Reported once, however many ways lead to it.
        let mut told = HashSet::new();
        diagnostics.retain(|found| told.insert((found.span, found.code, found.message.clone())));
        if more > 0 {
            let message = format!("{more} more faults are not shown: they are like those that are");
            let end = Span::new(self.source.text().len(), self.source.text().len());
            let mut note = Diagnostic::new(Code::Limit, end, "", message);
            note.severity = Severity::Hint;
            diagnostics.push(note);
        }
        diagnostics
    }
}

/// What was found, not too much of the same.
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

/// A fault that is being reported: it counts when this is dropped.
#[derive(Debug)]
pub struct Report<'a> {
    found: &'a mut Found,
    diagnostic: Option<Diagnostic>,
    /// Not where the fault came through an alias: others may use what it stands for.
    fixable: bool,
    /// The scalar and the part of its value that the fault is about, where it is about no more.
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

    /// The tree, for the places of edits.
    pub fn tree(&self) -> &'a Tree {
        self.tree
    }

    /// Shows less of the place.
    pub fn narrow(self, span: Span) -> Self {
        let own = self.fixable;
        self.change(|diagnostic| diagnostic.span = if own { span } else { diagnostic.span })
    }

    /// Offers to replace the fault's own span.
    pub fn fix(self, title: impl Into<String>, text: impl Into<String>) -> Self {
        let span = self.diagnostic.as_ref().map_or(Span::default(), |diagnostic| diagnostic.span);
        let edit = match self.inside {
            Some((node, part)) => scalar_edit(self.tree, node, part, span, &text.into()),
            None => Edit { span, text: text.into() },
        };
        self.edits(title, vec![edit])
    }

    /// Offers these edits.
    pub fn edits(self, title: impl Into<String>, edits: Vec<Edit>) -> Self {
        let fix = self.fixable.then(|| Fix { title: title.into(), edits });
        self.change(|diagnostic| diagnostic.fix = fix.or_else(|| diagnostic.fix.take()))
    }

    /// Names another place.
    pub fn related(self, span: Span, message: impl Into<String>) -> Self {
        self.change(|diagnostic| diagnostic.related.push(Related { span, message: message.into() }))
    }

    /// Makes it less bad than its code usually is.
    pub fn severity(self, severity: Severity) -> Self {
        self.change(|diagnostic| diagnostic.severity = severity)
    }
}

/// The replacement of a part of a scalar's value, written as the scalar is; where it cannot stand without quotes, the
/// whole is put in quotes.
fn scalar_edit(tree: &Tree, node: NodeId, part: Span, span: Span, text: &str) -> Edit {
    let Kind::Scalar { text: value, style } = &tree.node(node).kind else {
        return Edit { span, text: text.to_owned() };
    };
    let whole = [&value[..part.start], text, &value[part.end..]].concat();
    let own = tree.node(node);
    let part = match style {
        Style::DoubleQuoted => yaml_writer::inside(text, '"'),
        Style::SingleQuoted => yaml_writer::inside(text, '\''),
        Style::Plain => yaml_writer::stands_plain(&whole, own.flow).then(|| text.to_owned()),
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

//! Where faults are collected, each at the place that an author can act on.

use super::draft::{Slot, Text};
use super::yaml::Tree;
use crate::diagnostic::{Code, Diagnostic, Edit, Fix, Severity};
use crate::source::{Source, Span};

/// Collects the faults of one declaration.
#[derive(Debug)]
pub struct Sink<'a> {
    /// The text.
    pub source: &'a Source,
    /// What was read from it.
    pub tree: &'a Tree,
    /// What was found.
    pub diagnostics: Vec<Diagnostic>,
}

impl<'a> Sink<'a> {
    /// Nothing found yet.
    pub fn new(source: &'a Source, tree: &'a Tree) -> Self {
        Self { source, tree, diagnostics: Vec::new() }
    }

    /// Reports a fault of a whole value; at its key where the value is not there, at the alias where it was used by one.
    pub fn at(&mut self, code: Code, slot: &Slot, message: impl Into<String>) -> Report<'_> {
        let own = self.tree.node(slot.node).span;
        self.push(code, slot, own, message.into())
    }

    /// Reports a fault of a part of a text.
    pub fn inside(&mut self, code: Code, text: &Text, part: Span, message: impl Into<String>) -> Report<'_> {
        let own = self.tree.inside(text.slot.node, part);
        self.push(code, &text.slot, own, message.into())
    }

    /// Reports a fault of a key.
    pub fn at_key(&mut self, code: Code, slot: &Slot, message: impl Into<String>) -> Report<'_> {
        let diagnostic = Diagnostic::new(code, slot.alias.unwrap_or(slot.key), slot.path.clone(), message);
        self.add(diagnostic, slot.alias.is_none())
    }

    fn push(&mut self, code: Code, slot: &Slot, own: Span, message: String) -> Report<'_> {
        let nothing = self.tree.node(slot.node).span;
        let own = if nothing.start == nothing.end && own.start == own.end { slot.key } else { own };
        let mut diagnostic = Diagnostic::new(code, slot.alias.unwrap_or(own), slot.path.clone(), message);
        if slot.alias.is_some() {
            diagnostic = diagnostic.with_related(own, "what the alias stands for");
        }
        self.add(diagnostic, slot.alias.is_none())
    }

    fn add(&mut self, diagnostic: Diagnostic, fixable: bool) -> Report<'_> {
        let index = self.diagnostics.len();
        self.diagnostics.push(diagnostic);
        Report { diagnostic: &mut self.diagnostics[index], fixable, tree: self.tree }
    }
}

/// A fault that was just reported, to add to.
#[derive(Debug)]
pub struct Report<'a> {
    diagnostic: &'a mut Diagnostic,
    /// Not where the fault came through an alias: others may use what it stands for.
    fixable: bool,
    tree: &'a Tree,
}

impl<'a> Report<'a> {
    /// The tree, for the places of edits.
    pub fn tree(&self) -> &'a Tree {
        self.tree
    }

    /// Shows less of the place.
    pub fn narrow(self, span: Span) -> Self {
        if self.fixable {
            self.diagnostic.span = span;
        }
        self
    }

    /// Offers to replace the fault's own span.
    pub fn fix(self, title: impl Into<String>, text: impl Into<String>) -> Self {
        let span = self.diagnostic.span;
        self.edits(title, vec![Edit { span, text: text.into() }])
    }

    /// Offers these edits.
    pub fn edits(self, title: impl Into<String>, edits: Vec<Edit>) -> Self {
        if self.fixable {
            self.diagnostic.fix = Some(Fix { title: title.into(), edits });
        }
        self
    }

    /// Names another place.
    pub fn related(self, span: Span, message: impl Into<String>) -> Self {
        self.diagnostic.related.push(crate::diagnostic::Related { span, message: message.into() });
        self
    }

    /// Makes it less bad than its code usually is.
    pub fn severity(self, severity: Severity) -> Self {
        self.diagnostic.severity = severity;
        self
    }
}

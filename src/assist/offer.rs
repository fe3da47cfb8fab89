//! Collects completions.

use super::answers::{Completion, Kind};
use super::project::Project;
use crate::check::Checked;
use crate::declaration::draft::{DraftInput, Text};
use crate::declaration::line::Line;
use crate::diagnostic::Edit;
use crate::source::Span;

pub struct Offer<'a> {
    pub checked: &'a Checked,
    pub project: &'a Project,
    pub text: &'a str,
    pub line: Line,
    pub offset: usize,
    pub found: Vec<Completion>,
}

/// The first line of a text.
pub fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

impl Offer<'_> {
    /// Offers `insert` as a replacement for the word before the cursor.
    pub fn word(&mut self, label: &str, kind: Kind, detail: String, documentation: String, insert: String) {
        let word = |c: char| c.is_alphanumeric() || "_-./:".contains(c);
        let head = &self.text[self.line.start..self.offset];
        let start = self.line.start + head.trim_end_matches(word).len();
        self.from(start, label, kind, detail, documentation, insert);
    }

    /// Offers `insert` as a replacement for the text between `start` and the cursor.
    pub fn from(
        &mut self,
        start: usize,
        label: &str,
        kind: Kind,
        detail: String,
        documentation: String,
        insert: String,
    ) {
        let written = &self.text[start..self.offset];
        let filter = if written.starts_with(['"', '{']) { insert.clone() } else { label.to_owned() };
        let edit = Edit { span: Span::new(start, self.offset), text: insert };
        self.found.push(Completion { label: label.to_owned(), kind, detail, documentation, filter, edit });
    }

    /// The index of the stage that contains the cursor, from 0.
    pub fn own_stage(&self) -> Option<usize> {
        let stages = &self.checked.draft.stages;
        let starts = |at: &usize| self.checked.tree.node(stages[*at].slot.node).span.start <= self.offset;
        (0..stages.len()).rev().find(starts)
    }
}

/// The possible values of an input, if there are few.
pub fn values_of(input: &DraftInput) -> Vec<String> {
    match input.kind.as_ref().map(|kind| kind.value.as_str()) {
        Some("bool") => vec!["true".to_owned(), "false".to_owned()],
        Some("enum") => {
            let values = input.values.as_ref().map_or(&[][..], |(values, _)| values);
            values.iter().map(|value: &Text| value.value.clone()).collect()
        }
        _ => Vec::new(),
    }
}

/// The inputs that have a name.
pub fn named(inputs: &[DraftInput]) -> impl Iterator<Item = (&str, &DraftInput)> {
    inputs.iter().filter_map(|input| input.name.as_ref().map(|name| (name.value.as_str(), input)))
}

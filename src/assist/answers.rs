//! The results of editor requests, as plain data.

use crate::diagnostic::Edit;
use crate::source::Span;
use std::path::PathBuf;

/// What kind of thing is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Key,
    /// One of a few words.
    Word,
    Agent,
    Skill,
    Input,
    Stage,
    Fact,
    Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    pub label: String,
    /// What kind of thing it is.
    pub kind: Kind,
    /// A few words beside it.
    pub detail: String,
    pub documentation: String,
    /// The text that the typed word is matched against.
    pub filter: String,
    /// The edit that inserts it.
    pub edit: Edit,
}

/// What is said of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    pub span: Span,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    Here(Span),
    File(PathBuf),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The stage's position and label.
    pub name: String,
    /// What acts in it.
    pub detail: String,
    /// Whether the stage has no action, only a gate.
    pub gate: bool,
    pub span: Span,
    /// Its name or first key.
    pub selection: Span,
}

/// A fix that is offered at a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    pub title: String,
    /// Index of the diagnostic that it fixes.
    pub diagnostic: usize,
    pub edits: Vec<Edit>,
}

/// Text shown after a line that is not part of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// Where they are shown.
    pub offset: usize,
    /// The words, e.g. `would skip`.
    pub label: String,
    /// The full reason.
    pub tooltip: String,
}

/// What a stage would do in the current state of the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The stage's position in the list, from 0.
    pub stage: usize,
    /// For example `would skip`.
    pub label: String,
    pub why: String,
}

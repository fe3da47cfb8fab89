//! What is offered and shown, as plain data.

use crate::diagnostic::Edit;
use crate::source::Span;
use std::path::PathBuf;

/// What kind of thing is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A key.
    Key,
    /// One of a few words.
    Word,
    /// An agent.
    Agent,
    /// A skill.
    Skill,
    /// An input.
    Input,
    /// A stage.
    Stage,
    /// A fact.
    Fact,
    /// Anything else.
    Value,
}

/// Something to insert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// What is shown.
    pub label: String,
    /// What kind of thing it is.
    pub kind: Kind,
    /// A few words beside it.
    pub detail: String,
    /// More, as Markdown.
    pub documentation: String,
    /// What the text that was typed is matched against.
    pub filter: String,
    /// What choosing it does.
    pub edit: Edit,
}

/// What is said of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// The place.
    pub span: Span,
    /// Markdown.
    pub text: String,
}

/// Where something is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// In this text.
    Here(Span),
    /// Another file, at its start.
    File(PathBuf),
}

/// An entry of the outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The stage's position and label.
    pub name: String,
    /// What acts in it.
    pub detail: String,
    /// Whether it only waits.
    pub gate: bool,
    /// The whole item.
    pub span: Span,
    /// Its name or first key.
    pub selection: Span,
}

/// A mend that is offered at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// What is offered.
    pub title: String,
    /// Which of the diagnostics it mends.
    pub diagnostic: usize,
    /// How.
    pub edits: Vec<Edit>,
}

/// Words shown behind a line that are not in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// Where they are shown.
    pub offset: usize,
    /// The words, e.g. `would skip`.
    pub label: String,
    /// Why, in full.
    pub tooltip: String,
}

/// What a stage would do, as the project is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The stage's position in the list, from 0.
    pub stage: usize,
    /// In a few words, e.g. `would skip`.
    pub label: String,
    /// Why.
    pub why: String,
}

//! What an editor offers while a declaration is written. Pure: a checked text, a place in it, and what is known of the
//! project go in; plain data comes out.

mod complete;
mod complete_text;
mod context;
mod flow;
mod hover;
mod jump;
mod occurrences;
mod outline;

pub use complete::complete;
pub use hover::{hover, hover_of_names};
pub use jump::{definition, prepare_rename, references, rename};
pub use occurrences::{Entity, Occurrence, occurrences};
pub use outline::{actions, hints, symbols};

use crate::diagnostic::Edit;
use crate::source::Span;
use std::path::PathBuf;

/// An agent or a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Worker {
    /// Its name.
    pub name: String,
    /// What its file says of it.
    pub description: String,
    /// Its file.
    pub path: PathBuf,
    /// What in the head of its file was not understood.
    pub faults: Vec<String>,
}

/// A fact as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactNow {
    /// Its name.
    pub name: String,
    /// Its value and the reason; nothing for one that only Lua can decide.
    pub now: Option<(bool, String)>,
}

/// What is known of the project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Project {
    /// The stem of the declaration's file.
    pub stem: Option<String>,
    /// Agents, the first of a name only.
    pub agents: Vec<Worker>,
    /// Skills, the first of a name only.
    pub skills: Vec<Worker>,
    /// Facts: those that the engine decides, and the user's own.
    pub facts: Vec<FactNow>,
    /// Harnesses of the configuration, besides those that the engine knows.
    pub harnesses: Vec<String>,
}

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

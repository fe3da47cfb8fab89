//! A declaration, typed. Only the decoder creates one, and only from a text without errors.

use crate::condition::Expr;
use crate::source::Span;
use std::time::Duration;

/// A value with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    pub value: T,
    /// Its position; for a quoted scalar with its quotes.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// `value`, found at `span`.
    pub const fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// Its name, the stem of its file.
    pub name: Spanned<String>,
    pub description: Spanned<String>,
    /// As written: semver, or only its first one or two numbers.
    pub version: Spanned<String>,
    pub tags: Vec<Spanned<String>>,
    /// What it asks for before it runs.
    pub inputs: Vec<Input>,
    /// At least one, in listed order.
    pub stages: Vec<Stage>,
}

/// An input of a superpower.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// `[A-Za-z_][A-Za-z0-9_-]*`, unique.
    pub name: Spanned<String>,
    /// What values it takes.
    pub kind: InputKind,
    /// Whether a run needs a value.
    pub required: bool,
    pub description: Option<Spanned<String>>,
    /// The value if none is given; a bool as `true` or `false`.
    pub default: Option<Spanned<String>>,
}

/// What values an input takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputKind {
    String,
    /// `true` or `false`.
    Bool,
    Enum(Vec<Spanned<String>>),
}

/// A step of a superpower. It has an action, a gate, or both.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    pub span: Span,
    pub name: Option<Spanned<String>>,
    /// What does the work.
    pub action: Option<Spanned<Action>>,
    /// The label, as written.
    pub description: Option<Spanned<String>>,
    /// The condition; the stage always runs if there is none.
    pub when: Option<Spanned<Expr>>,
    /// Its own inputs in order, with templates as written.
    pub inputs: Vec<(Spanned<String>, Spanned<String>)>,
    /// Names of stages that must run before it.
    pub depends_on: Vec<Spanned<String>>,
    /// Whether it waits for a human.
    pub gate: Option<Spanned<Gate>>,
    /// Target of "request changes": the name or number of an earlier stage.
    pub rework: Option<Spanned<String>>,
    /// The harness, if it is not the run's.
    pub harness: Option<Spanned<String>>,
    /// Time limit of one attempt.
    pub timeout: Option<Spanned<Duration>>,
    /// At least 1.
    pub max_attempts: Option<Spanned<u32>>,
    /// What must be true after an attempt; otherwise it fails.
    pub expects: Option<Expects>,
}

/// What does the work of a stage.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    Agent(String),
    Skill(String),
    /// The orchestrator agent, with the input `mode` set to this pipeline.
    Pipeline(Pipeline),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pipeline {
    /// `standard-8-phase`, also written `standard`.
    Standard8Phase,
}

/// What a gate does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gate {
    /// Waits until a human decides.
    HumanApproval,
    Auto,
}

/// What must be true after an attempt; otherwise it fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expects {
    /// Globs with templates as written; each must match a file that was written since this visit of the stage started.
    pub files: Vec<Spanned<String>>,
    /// The final message must end with this verdict.
    pub verdict: Option<Spanned<String>>,
}

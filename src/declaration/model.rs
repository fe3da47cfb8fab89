//! A superpower as its author wrote it, typed. Only the decoder makes one, and only from a text without errors.

use crate::condition::Expr;
use crate::source::Span;
use std::time::Duration;

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Its place; for a quoted scalar with its quotes.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// `value`, found at `span`.
    pub const fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}

/// A superpower's declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// Its name, the stem of its file.
    pub name: Spanned<String>,
    /// One line for people.
    pub description: Spanned<String>,
    /// As written: semver, or its first one or two numbers.
    pub version: Spanned<String>,
    /// Free words.
    pub tags: Vec<Spanned<String>>,
    /// What it asks for before it runs.
    pub inputs: Vec<Input>,
    /// What it does, in the listed order; at least one.
    pub stages: Vec<Stage>,
}

/// What a superpower asks for before it runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// `[A-Za-z_][A-Za-z0-9_-]*`, unique.
    pub name: Spanned<String>,
    /// What values it takes.
    pub kind: InputKind,
    /// Whether a run must have it.
    pub required: bool,
    /// For people.
    pub description: Option<Spanned<String>>,
    /// The value where none is given; a bool as `true` or `false`.
    pub default: Option<Spanned<String>>,
}

/// What values an input takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// Any text.
    String,
    /// `true` or `false`.
    Bool,
    /// One of these.
    Enum(Vec<Spanned<String>>),
}

/// One step of a superpower. It has an action, or a gate, or both.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// The whole item.
    pub span: Span,
    /// Optional id, unique.
    pub name: Option<Spanned<String>>,
    /// What it hands work to.
    pub action: Option<Spanned<Action>>,
    /// Its label, as written.
    pub description: Option<Spanned<String>>,
    /// When it runs; always where absent.
    pub when: Option<Spanned<Expr>>,
    /// Its own inputs, templates as written, in order.
    pub inputs: Vec<(Spanned<String>, Spanned<String>)>,
    /// Names of stages that come first.
    pub depends_on: Vec<Spanned<String>>,
    /// Whether it waits for a human.
    pub gate: Option<Spanned<Gate>>,
    /// Where "request changes" goes back to: the name (or number) of an earlier stage.
    pub rework: Option<Spanned<String>>,
    /// The harness, where it is not the run's.
    pub harness: Option<Spanned<String>>,
    /// Wall clock of one attempt.
    pub timeout: Option<Spanned<Duration>>,
    /// 1 or more.
    pub max_attempts: Option<Spanned<u32>>,
    /// What must be true after an attempt.
    pub expects: Option<Expects>,
}

/// What a stage hands its work to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// A named agent.
    Agent(String),
    /// A skill.
    Skill(String),
    /// The orchestrator agent, with the input `mode` set to this pipeline.
    Pipeline(Pipeline),
}

/// The pipelines there are.
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
    /// Never waits.
    Auto,
}

/// What must be true after an attempt, or it fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expects {
    /// Globs; each must match a file written since this visit of the stage began. Templates as written.
    pub files: Vec<Spanned<String>>,
    /// The final message must end with this verdict.
    pub verdict: Option<Spanned<String>>,
}

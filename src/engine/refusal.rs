//! Why a request was refused. Code inside the engine matches the variant; [`wire`] turns it into the `err` that Lua gets,
//! with a code, a message and data.

pub(in crate::engine) mod changed;
mod file_names;
pub(in crate::engine) mod foreign_run;
pub(in crate::engine) mod untrusted;
mod wire;

use crate::driver::lock::StartError;
use crate::harness;
use crate::plan::{InputError, Inputs};
use crate::project::root::NoProject;
use crate::project::superpowers::UnknownSuperpower;
use crate::project::trust::TooMuch;
use crate::run::machine;
use crate::runs::open_error::OpenError;
use crate::store::journal::Damage;
use crate::store::squad::SquadError;
use crate::sync::panic_text;
use changed::Changed;
use file_names::file_names;
use foreign_run::ForeignRun;
use std::any::Any;
use std::fmt;
use std::io;
use std::path::PathBuf;
use thiserror::Error;
use untrusted::Untrusted;

/// Maximum number of runs that a message lists.
pub(crate) const MAX_LISTED: usize = 10;

/// A refused request, with the data that Lua needs for its next step.
#[derive(Debug, Error)]
pub(crate) enum Refusal {
    // The request itself.
    #[error("{0}")]
    BadRequest(String),
    #[error("unknown operation \"{op}\"{hint}")]
    UnknownOp { op: String, hint: String },
    #[error("cannot start a thread: {0}")]
    NoThread(String),
    #[error("internal error: {0}")]
    Panic(String),
    #[error("this editor was started by a stage of a superpower and must not {what}; use your own editor")]
    Nested { what: String },

    // The project and its declarations.
    #[error(transparent)]
    NoProject(#[from] NoProject),
    #[error(transparent)]
    UnknownSuperpower(#[from] UnknownSuperpower),
    #[error("cannot start \"{name}\": it has errors:\n{}", errors.join("\n"))]
    InvalidDeclaration { name: String, path: PathBuf, errors: Vec<String> },
    #[error(transparent)]
    Inputs(#[from] InputError),
    /// Inputs that are missing in another tool's `squad.json`, or invalid there.
    #[error("{}", of_squad(error, superpower))]
    InputsOfSquad { error: Box<InputError>, superpower: String, given: Inputs },
    #[error(transparent)]
    NoHarness(#[from] harness::Missing),
    #[error("the harness \"manual\" needs a person at the editor; choose another harness for headless use")]
    ManualHeadless,

    // Trust.
    #[error(transparent)]
    Untrusted(Box<Untrusted>),
    #[error(transparent)]
    TooMuchToTrust(#[from] TooMuch),
    #[error("your answer could not be saved: there is no home directory")]
    NoStateDir,
    #[error("{0}")]
    TrustNotKept(String),

    // Which run.
    #[error("{0}")]
    NothingToResume(Nothing),
    #[error("unknown run \"{0}\"; see :Superpower runs")]
    UnknownRun(String),
    #[error("\"{start}\" matches {} runs; give more of the id: {}", runs.len(), listed(runs))]
    AmbiguousRun { start: String, runs: Vec<String> },
    /// A verb that names no run where several are possible.
    #[error("{} runs are possible; name one as the first word:\n{}", ids.len(), lines.join("\n"))]
    SeveralRuns { ids: Vec<String>, lines: Vec<String> },
    #[error("{error}{}", if error.is_movable() { aside.to_string() } else { String::new() })]
    UnreadableSquad { error: SquadError, aside: Aside },
    #[error("\"squad.json\" is at stage {stage} of {superpower}, which has only {total}")]
    SquadPastEnd { stage: usize, superpower: String, total: usize },
    /// Another tool's run that the verb itself is about.
    #[error("{0}; correct \"squad.json\", or :Superpower cancel moves it aside")]
    SquadNotTaken(Box<Refusal>),
    /// Another tool's run, which would be lost if `squad.json` were overwritten.
    #[error(
        "cannot take over the run of {superpower} that another tool left in \"squad.json\": {why}; to go on \
         without that run, :Superpower cancel moves the file aside"
    )]
    SquadInTheWay { superpower: String, why: Box<Refusal> },
    /// The run that another tool's `squad.json` names has ended.
    #[error("{superpower} is {state}; start it again with :Superpower run {superpower}")]
    SquadOver { superpower: String, state: &'static str },

    // A run on disk.
    #[error(transparent)]
    Open(OpenError),
    #[error("cannot read the declaration that this run of {superpower} uses: {error}")]
    KeptDeclaration { superpower: String, error: io::Error },
    /// The current run is unreadable, so no verb can continue it.
    #[error(
        "{why}; this run cannot be continued: end it with :Superpower cancel, or start again with :Superpower run \
         {superpower}"
    )]
    Lost { why: Box<Refusal>, superpower: String },
    #[error(transparent)]
    ForeignRun(Box<ForeignRun>),
    #[error(
        "the journal of {superpower} is damaged at byte {} (line {}): {}; to continue without the lost part, answer \
         \"repair\" (answer=repair); the damaged journal is kept",
        damage.offset, damage.line, lost.join(", ")
    )]
    DamagedJournal { superpower: String, damage: Damage, lost: Vec<String> },

    // Questions before a run is driven.
    #[error(
        "this run of {superpower} uses its own copy of the declaration, \"{copy}\", and that copy was changed: continue \
         with the changed copy (answer=old) or with the current superpower (answer=new)?"
    )]
    KeptCopyChanged { superpower: String, copy: String },
    #[error(
        "{superpower} was edited while its run was paused: {}; continue with the old or the new version? (answer=old, \
         answer=new)",
        differences.join(", ")
    )]
    DeclarationEdited { superpower: String, differences: Vec<String> },
    #[error(
        "{superpower} was edited while its run was paused, and the new version cannot be used: {}; fix it, or continue \
         with the old version (answer=old)",
        why.join(", ")
    )]
    DeclarationUnusable { superpower: String, why: Vec<String> },
    #[error(
        "{} changed since stage {stage} was approved: continue, or review again? (answer=go-on, answer=look-again)",
        file_names(files)
    )]
    FilesChanged { stage: usize, files: Vec<String> },
    #[error(
        "the input \"{input}\" of {superpower} held a secret, which is not saved: start the editor with {} set and try \
         again, or start again with :Superpower run {superpower}",
        variables.join(", ")
    )]
    HiddenInput { superpower: String, input: String, variables: Vec<String> },

    #[error("{0}")]
    Changed(Changed),
    #[error("the look at the files was given up; nothing was decided")]
    ComparisonCancelled,

    // Driving.
    #[error(transparent)]
    Start(StartError),
    #[error(transparent)]
    Machine(machine::Refusal),
    #[error("{superpower} is running, at stage {stage}; use :Superpower pause or :Superpower cancel first")]
    Running { run_id: String, superpower: String, stage: usize },
    /// The text says what the run does instead.
    #[error("no gate is waiting{0}")]
    NoGate(String),
    #[error("the result is empty; write what was done")]
    EmptyResult,
    #[error("no stage waits for a result; nothing was submitted")]
    NothingToSubmit,

    // What windows show.
    #[error("{0}")]
    NoDiff(String),
    #[error("unknown stage {0}")]
    UnknownStage(StageReference),
    #[error("stage {stage} {}", if *has_action { "has not started an agent yet" } else { "is a gate and has no agent" })]
    NoOutput { stage: usize, has_action: bool },
    #[error("\"{}\" is not a file of this plugin", .0.display())]
    NotOurs(PathBuf),
    #[error("cannot read \"{}\": {error}", path.display())]
    UnreadableFile { path: PathBuf, error: io::Error },

    // Editing.
    #[error("the text has changed since it was checked")]
    Outdated,
    #[error("document parts arrived out of order")]
    PartsOutOfOrder,
    #[error("{0}")]
    NotRenamed(String),

    /// `what` is the start of the message, such as `cannot read "x"`.
    #[error("{what}: {error}")]
    Disk { what: String, error: io::Error },
}

/// Why there is no run to act on.
#[derive(Debug, Error)]
pub(crate) enum Nothing {
    #[error("this project has no run; start one with :Superpower run NAME")]
    Here,
    #[error("no run of \"{which}\" can be resumed{hint}")]
    Named { which: String, hint: String },
    #[error("\"squad.json\" was written by another tool; take it over with :Superpower resume")]
    AnotherTools,
}

/// What was done with an unusable `squad.json`.
#[derive(Debug)]
pub(crate) enum Aside {
    Left,
    Moved(PathBuf),
    Failed(io::Error),
}

impl fmt::Display for Aside {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Left => out.write_str("; correct it, or :Superpower cancel moves the file aside"),
            Self::Moved(aside) => {
                write!(out, "; it was moved to \"{}\", and the next verb goes on without it", aside.display())
            }
            Self::Failed(error) => write!(out, "; it could not be moved aside: {error}"),
        }
    }
}

/// How the user named a stage: by position, or by a text that may be its name.
#[derive(Debug)]
pub(crate) enum StageReference {
    Place(usize),
    Text(String),
}

impl fmt::Display for StageReference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Place(place) => place.fmt(out),
            Self::Text(text) => write!(out, "\"{text}\""),
        }
    }
}

fn listed(runs: &[String]) -> String {
    let shown = runs.iter().take(MAX_LISTED).map(String::as_str).collect::<Vec<_>>().join(", ");
    if runs.len() > MAX_LISTED { format!("{shown}, …") } else { shown }
}

fn of_squad(error: &InputError, superpower: &str) -> String {
    match error {
        InputError::Missing(_) => format!(
            "\"squad.json\" lacks an input of {superpower}: {error}; add it with :Superpower resume KEY=VALUE"
        ),
        _ => error.to_string(),
    }
}

impl Refusal {
    /// From a caught panic.
    pub fn of_panic(panic: &(dyn Any + Send)) -> Self {
        Self::Panic(panic_text(panic).to_owned())
    }

    /// A failed disk operation; `what` is the start of the message, such as `cannot read "x"`.
    pub fn disk(what: impl Into<String>, error: io::Error) -> Self {
        Self::Disk { what: what.into(), error }
    }

    /// Whether it means that there is no such run, or none at all.
    pub fn is_nothing(&self) -> bool {
        matches!(self, Self::NothingToResume(_) | Self::Open(OpenError::Missing(_)))
    }

    /// Whether it is about a `squad.json` that no run can be taken from.
    pub fn is_of_squad(&self) -> bool {
        match self {
            Self::SquadNotTaken(_) | Self::SquadInTheWay { .. } | Self::InputsOfSquad { .. } => true,
            Self::UnreadableSquad { error, .. } => error.is_movable(),
            _ => false,
        }
    }

    /// Whether it means that the run exists but is unreadable.
    pub fn is_unreadable(&self) -> bool {
        matches!(
            self,
            Self::KeptDeclaration { .. } | Self::Open(OpenError::Journal(_) | OpenError::Declaration { .. })
        )
    }
}

impl From<StartError> for Refusal {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Open(error) => Self::Open(error),
            StartError::Refused(refusal) => Self::Machine(refusal),
            other => Self::Start(other),
        }
    }
}

impl From<OpenError> for Refusal {
    fn from(error: OpenError) -> Self {
        Self::Open(error)
    }
}

impl From<machine::Refusal> for Refusal {
    fn from(refusal: machine::Refusal) -> Self {
        Self::Machine(refusal)
    }
}

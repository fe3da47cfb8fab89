//! Why a request was refused. What decides inside the engine is the variant; what Lua gets as `err` (a code, words for
//! people, and the data of an answer) is made of it at the door, in [`wire`].

pub(in crate::engine) mod changed;
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
use foreign_run::ForeignRun;
use std::any::Any;
use std::fmt;
use std::io;
use std::path::PathBuf;
use thiserror::Error;
use untrusted::Untrusted;

/// Runs that a refusal lists.
pub(crate) const LISTED: usize = 10;

/// A request that was refused, with what an answer to it needs.
#[derive(Debug, Error)]
pub(crate) enum Refusal {
    // The request itself.
    #[error("{0}")]
    BadRequest(String),
    #[error("no operation \"{op}\"{hint}")]
    UnknownOp { op: String, hint: String },
    #[error("no thread: {0}")]
    NoThread(String),
    #[error("the engine panicked: {0}")]
    Panic(String),
    #[error(
        "this editor was started by a stage of a superpower, and does not {what}; do it in your own editor"
    )]
    Nested { what: String },

    // The project and its declarations.
    #[error(transparent)]
    NoProject(#[from] NoProject),
    #[error(transparent)]
    UnknownSuperpower(#[from] UnknownSuperpower),
    #[error("\"{name}\" has errors and was not started:\n{}", errors.join("\n"))]
    InvalidDeclaration { name: String, path: PathBuf, errors: Vec<String> },
    #[error(transparent)]
    Inputs(#[from] InputError),
    /// Inputs that another tool's `squad.json` lacks, or gives wrong.
    #[error("{}", of_squad(error, superpower))]
    InputsOfSquad { error: Box<InputError>, superpower: String, given: Inputs },
    #[error(transparent)]
    NoHarness(#[from] harness::Missing),
    #[error("the harness \"manual\" needs somebody at the editor; set another harness for headless use")]
    ManualHeadless,

    // Trust.
    #[error(transparent)]
    Untrusted(Box<Untrusted>),
    #[error(transparent)]
    TooMuchToTrust(#[from] TooMuch),
    #[error("the answer cannot be kept: there is no home directory")]
    NoStateDir,
    #[error("{0}")]
    TrustNotKept(String),

    // Which run.
    #[error("{0}")]
    NothingToResume(Nothing),
    #[error("no run \"{0}\" in this project; :Superpower runs lists them")]
    UnknownRun(String),
    #[error("\"{start}\" is the start of {} runs; give more of the id: {}", runs.len(), listed(runs))]
    AmbiguousRun { start: String, runs: Vec<String> },
    /// A verb without a run where several fit.
    #[error("{} runs fit; name one as the first word:\n{}", ids.len(), lines.join("\n"))]
    SeveralRuns { ids: Vec<String>, lines: Vec<String> },
    #[error("{error}{aside}")]
    UnreadableSquad { error: SquadError, aside: Aside },
    #[error("\"squad.json\" stands at stage {stage} of {superpower}, which has {total}")]
    SquadPastEnd { stage: usize, superpower: String, total: usize },
    /// Another tool's run that would be lost if `squad.json` named one of ours.
    #[error(
        "\"squad.json\" names a run of another tool, {superpower}, which cannot be taken over: {why}; move the file away \
         to go on without it"
    )]
    SquadInTheWay { superpower: String, why: Box<Refusal> },
    /// What another tool's `squad.json` names is over.
    #[error("{superpower} is {state}; start it anew with :Superpower run {superpower}")]
    SquadOver { superpower: String, state: &'static str },

    // A run on disk.
    #[error(transparent)]
    Open(OpenError),
    #[error("the declaration that {superpower} keeps cannot be read: {error}")]
    KeptDeclaration { superpower: String, error: io::Error },
    /// The current run cannot be read any more: no verb goes on with it.
    #[error(
        "{why}; nothing can go on with this run: :Superpower cancel ends it, :Superpower run {superpower} starts anew"
    )]
    Lost { why: Box<Refusal>, superpower: String },
    #[error(transparent)]
    ForeignRun(Box<ForeignRun>),
    #[error(
        "the journal of {superpower} is damaged at byte {} (line {}): {}; the whole journal is kept when you continue \
         without what is lost (answer=repair)",
        damage.offset, damage.line, lost.join(", ")
    )]
    DamagedJournal { superpower: String, damage: Damage, lost: Vec<String> },

    // What a verb asks before it drives.
    #[error(
        "the copy of the declaration that this run of {superpower} kept, \"{copy}\", was changed: continue with the \
         changed copy (answer=old), or with the superpower as it is now (answer=new)?"
    )]
    KeptCopyChanged { superpower: String, copy: String },
    #[error(
        "{superpower} was edited while its run was paused: {}; go on with the old or the new one? (answer=old, \
         answer=new)",
        differences.join(", ")
    )]
    DeclarationEdited { superpower: String, differences: Vec<String> },
    #[error(
        "{superpower} was edited while its run was paused, and cannot be used: {}; mend it, or go on with the old one \
         (answer=old)",
        why.join(", ")
    )]
    DeclarationUnusable { superpower: String, why: Vec<String> },
    #[error(
        "since stage {stage} was approved, {} changed: go on, or look again? (answer=go-on, answer=look-again)",
        files.join(", ")
    )]
    FilesChanged { stage: usize, files: Vec<String> },
    #[error(
        "the input \"{input}\" of {superpower} held a secret, which the run does not keep: start the editor with {} \
         set, and try again; or start anew with :Superpower run {superpower}",
        variables.join(", ")
    )]
    HiddenInput { superpower: String, input: String, variables: Vec<String> },

    #[error("{0}")]
    Changed(Changed),
    #[error("the look at the files was given up; nothing was decided")]
    LookGivenUp,

    // Driving.
    #[error(transparent)]
    Start(StartError),
    #[error(transparent)]
    Machine(machine::Refusal),
    #[error("{superpower} is running, at stage {stage}; :Superpower pause or cancel it first")]
    Running { run_id: String, superpower: String, stage: usize },
    /// What stands there instead, for people.
    #[error("no gate is waiting{0}")]
    NoGate(String),
    #[error("an empty result cannot be handed in; write what was done")]
    EmptyResult,
    #[error("no stage waits for this result; nothing was handed in")]
    NothingToSubmit,

    // What windows show.
    #[error("{0}")]
    NoDiff(String),
    #[error("there is no stage {0}")]
    UnknownStage(StageReference),
    #[error("stage {stage} {}", if *acts { "has not started an agent yet" } else { "is a gate: no agent works on it" })]
    NoOutput { stage: usize, acts: bool },
    #[error("\"{}\" is not a file of the plugin's own", .0.display())]
    NotOurs(PathBuf),
    #[error("cannot read \"{}\": {error}", path.display())]
    UnreadableFile { path: PathBuf, error: io::Error },

    // Editing.
    #[error("the text has changed since it was read")]
    Outdated,
    #[error("the parts before this one are not those of the same text")]
    PartsOfAnother,
    #[error("{0}")]
    NotRenamed(String),

    /// What could not be done, up to the colon.
    #[error("{what}: {error}")]
    Disk { what: String, error: io::Error },
}

/// Why there is no run to act on.
#[derive(Debug, Error)]
pub(crate) enum Nothing {
    #[error("there is no run here; start one with :Superpower run NAME")]
    Here,
    #[error("no run of \"{which}\" to resume{hint}")]
    Named { which: String, hint: String },
    #[error("\"squad.json\" was written by another tool; :Superpower resume takes it over")]
    AnotherTools,
}

/// What became of a `squad.json` that cannot be used.
#[derive(Debug)]
pub(crate) enum Aside {
    Left,
    Moved(PathBuf),
    Failed(io::Error),
}

impl fmt::Display for Aside {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Left => Ok(()),
            Self::Moved(aside) => write!(out, "; it was moved to \"{}\"", aside.display()),
            Self::Failed(error) => write!(out, ", nor moved aside: {error}"),
        }
    }
}

/// How a stage was named: by its place, or by a text that may be its name.
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
    let shown = runs.iter().take(LISTED).map(String::as_str).collect::<Vec<_>>().join(", ");
    if runs.len() > LISTED { format!("{shown}, …") } else { shown }
}

fn of_squad(error: &InputError, superpower: &str) -> String {
    match error {
        InputError::Missing(_) => format!(
            "\"squad.json\" lacks an input of {superpower}: {error}; give it with :Superpower resume KEY=VALUE"
        ),
        _ => error.to_string(),
    }
}

impl Refusal {
    /// Of a caught panic.
    pub fn of_panic(panic: &(dyn Any + Send)) -> Self {
        Self::Panic(panic_text(panic).to_owned())
    }

    /// Something that the disk did not do.
    pub fn disk(what: impl Into<String>, error: io::Error) -> Self {
        Self::Disk { what: what.into(), error }
    }

    /// Whether it says that there is no such run, or none at all.
    pub fn is_nothing(&self) -> bool {
        matches!(self, Self::NothingToResume(_) | Self::Open(OpenError::Missing(_)))
    }

    /// Whether it says that the run is there and cannot be read.
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

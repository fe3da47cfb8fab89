//! How a stage reaches an agent: one small trait, one file a harness, one way to launch them all.
//!
//! A harness says what to start and reads what it prints. It starts nothing itself: [`crate::process`] does, with
//! the same limits for every harness. [`resolve`] finds the program, [`launch`] starts it, and its [`Signal`]s tell
//! the rest, from one thread, in order.

mod allowed;
mod calls;
mod claude;
mod command;
mod events;
mod fake;
mod follow;
mod known;
mod launch;
mod limit;
mod loose;
mod manual;
mod opencode;
mod release;
mod resolve;
mod tail;
mod tool;
mod words;

pub use calls::Calls;
pub use fake::{Step, fake};
pub use launch::{LaunchError, Running, launch, of};
pub use release::{Need, installed, needs};
pub use resolve::{Harnesses, Kind, Missing, Resolved, Settings, resolve};

use crate::outcome::{Outcome, ProcessRecord, Session, Usage};
use crate::process::{Exit, Limit};
pub use crate::process::{Request, Server, Way};
use crate::store::beneath::Door;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// What an attempt hands to an agent.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The run, as `SUPERPOWER_RUN_ID`.
    pub run_id: String,
    /// The stage's position in the list, from 1, as `SUPERPOWER_STAGE`.
    pub stage: usize,
    /// Serial number of the launch within the run, from 1, as `SUPERPOWER_ATTEMPT`.
    pub launch: u32,
    /// The name for the agent or skill.
    pub task: Task,
    /// What the agent is told.
    pub prompt: String,
    /// The agent's own session, to go on in.
    pub session: Option<Session>,
    /// The project root, where the agent works.
    pub root: PathBuf,
    /// Where this launch's files go (it exists): `prompt.md` (already there), `output.log`, and for the record
    /// `processes.jsonl`.
    pub dir: PathBuf,
    /// The door to those files.
    pub door: Door,
    /// Wall clock limit, counting time awake; none for `manual`.
    pub timeout: Option<Duration>,
    /// Silence limit, for harnesses that stream.
    pub idle: Option<Duration>,
    /// Whether somebody is there to answer permissions and questions.
    pub interactive: bool,
}

/// What is asked of the harness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task {
    /// Run this agent (a pipeline is the agent `orchestrator`).
    Agent(String),
    /// Run this skill.
    Skill(String),
}

/// What a launched agent tells the driver: `Started` first, and again where a first start turned out not to do (a
/// session that is gone, a release that cannot be talked to); then the rest; `Ended` once, last.
#[derive(Clone, Debug)]
pub enum Signal {
    /// Its process exists; none for `manual`.
    Started(Option<ProcessRecord>),
    /// Its session is known.
    Session(Session),
    /// Something to show; decides nothing.
    Progress(Progress),
    /// It asks for a permission; answered with [`Running::answer`].
    Asked(Question),
    /// It does not wait for the answer to the question of this id any more. Said of no question that was answered.
    Withdrawn(String),
    /// It is over and nothing of it is left.
    Ended(Ending),
}

/// What is shown while an agent works. It never changes a stage's state.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
#[serde(tag = "progress", rename_all = "kebab-case")]
pub enum Progress {
    /// Text as it comes.
    Text {
        /// The piece.
        text: String,
    },
    /// A tool call began, or changed.
    Tool {
        /// The call's id.
        id: String,
        /// One line, e.g. `Edit docs/a.md`.
        title: String,
        /// `running`, `done`, `failed`.
        status: String,
        /// The subagent's call that it belongs to.
        parent: Option<String>,
        /// Files that the call wrote, relative to the root where they are inside it.
        files: Vec<String>,
    },
    /// The to-do list, whole.
    Todo {
        /// The items in order.
        items: Vec<TodoItem>,
    },
    /// What was used so far, whole.
    Usage {
        /// The figures.
        usage: Usage,
    },
    /// The agent's own retry, or a limit that it waits for.
    Waiting {
        /// One line, e.g. `overloaded, retry 2 of 10 in 5s`.
        text: String,
    },
    /// Something to say once, e.g. that output was lost.
    Note {
        /// One line.
        text: String,
    },
}

impl Progress {
    /// Every text of it that somebody else wrote, for whoever masks.
    fn texts(&mut self, each: &mut dyn FnMut(&mut String)) {
        match self {
            Progress::Text { text } | Progress::Waiting { text } | Progress::Note { text } => each(text),
            Progress::Tool { title, files, .. } => {
                each(title);
                files.iter_mut().for_each(each);
            }
            Progress::Todo { items } => items.iter_mut().for_each(|item| each(&mut item.text)),
            Progress::Usage { .. } => {}
        }
    }
}

/// An entry of an agent's to-do list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoItem {
    /// What is to be done.
    pub text: String,
    /// `pending`, `in_progress`, `completed`.
    pub status: String,
}

/// A permission, or a question, that an agent waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// Names it in the answer.
    pub id: String,
    /// The tool that is to be allowed.
    pub tool: String,
    /// The tool's input.
    pub input: serde_json::Value,
    /// One line.
    pub title: String,
}

/// The answer to a [`Question`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum Answer {
    /// This once.
    Once,
    /// Whenever this run asks for the same tool.
    Run,
    /// No, with the reason that a human gave.
    Deny {
        /// Told to the agent; empty for none.
        reason: String,
    },
    /// No, from a machine: nobody was there, or nobody answered in time. Noted in [`Ending::refusals`].
    Refuse {
        /// Told to the agent.
        why: String,
    },
}

/// How it ended, as the harness reads the evidence. `expects` and verdicts are judged by the driver.
#[derive(Clone, Debug)]
pub struct Ending {
    /// From the final event, else from the exit.
    pub outcome: Outcome,
    /// The final message, whole.
    pub message: String,
    /// What was used by this launch.
    pub usage: Usage,
    /// Permissions that a machine refused (nobody there, time-out), one line each.
    pub refusals: Vec<String>,
    /// The end of what it printed, for the next attempt's prompt; at most 4 KiB.
    pub tail: String,
}

/// What a harness has started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Invocation {
    /// Arguments, after those that the configuration gives with the program.
    pub args: Vec<String>,
    /// Variables beside the inherited ones.
    pub env: Vec<(String, String)>,
    /// What is written first.
    pub stdin: Vec<u8>,
    /// Whether standard input stays open for more.
    pub duplex: bool,
    /// Whether it says what it does while it does it, so that silence is a sign.
    pub streams: bool,
    /// When the harness wants to be woken, unless it asks for another time before.
    pub wake: Option<Duration>,
}

/// How a process came to its end, and what it left to be told.
#[derive(Clone, Debug)]
pub struct End {
    /// How it ended.
    pub exit: Exit,
    /// Why it was stopped, where it was.
    pub stopped: Option<Stopped>,
}

/// Why a process was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The driver asked for it.
    Asked,
    /// A limit was reached.
    Limit(Limit),
    /// The harness asked for it, since nothing more is to be expected.
    Harness,
}

/// What a harness does in answer to what it reads.
#[derive(Debug, Default)]
pub struct Actions {
    /// To be told to the driver, in order.
    pub signals: Vec<Signal>,
    /// To be written to a duplex process.
    pub write: Vec<u8>,
    /// Whether its standard input ends, once that is written.
    pub close: bool,
    /// Where it serves, as it says: its events and its answers are lines from then on.
    pub connect: Option<Server>,
    /// To be asked of what it serves.
    pub requests: Vec<Request>,
    /// Whether it is stopped; where it is being stopped already, that its own way has come to its end.
    pub stop: bool,
    /// When the harness wants to be woken, in place of what it asked for before; [`Duration::MAX`] for never.
    pub wake: Option<Duration>,
}

/// One launch of a harness: what it starts, and how what comes back is read. It does no I/O.
pub trait Harness: Send {
    /// What is to be started.
    fn invocation(&mut self) -> Invocation;

    /// Reads a line of standard output, or of what it serves; `lost` bytes of it were dropped.
    fn line(&mut self, line: &str, lost: u64, to: &mut Actions);

    /// Reads a line of standard error.
    fn error_line(&mut self, line: &str, to: &mut Actions);

    /// Takes an answer to a question.
    fn answer(&mut self, _id: &str, _answer: &Answer, _to: &mut Actions) {}

    /// The time that it asked to be woken at has come.
    fn woken(&mut self, _to: &mut Actions) {}

    /// Tells it that its time is nearly up, in words for it; `false` where it cannot be told.
    fn wrap_up(&mut self, _words: &str, _to: &mut Actions) -> bool {
        false
    }

    /// Begins to stop it in its own way; `false` where it has none.
    fn stop(&mut self, _to: &mut Actions) -> bool {
        false
    }

    /// Whether it lives until it is ended, so that TERM is as good an end as any.
    fn is_server(&self) -> bool {
        false
    }

    /// Whether something is under way that may well be silent.
    fn busy(&self) -> bool {
        false
    }

    /// Reads the end. `None` asks for another start, with what [`Harness::invocation`] then says.
    fn end(&mut self, end: &End, to: &mut Actions) -> Option<Ending>;
}

/// Whether `name` can stand in an argument: none reads as a flag, or as more than a name.
pub fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    let first = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    bytes.next().is_some_and(first) && bytes.all(|b| first(b) || b"._:/-".contains(&b))
}

impl Ending {
    /// With every secret masked.
    fn masked(mut self, secrets: &crate::process::Secrets) -> Self {
        let mask = |text: &mut String| *text = secrets.mask(text).into_owned();
        self.outcome.text().into_iter().for_each(mask);
        mask(&mut self.message);
        mask(&mut self.tail);
        self.refusals.iter_mut().for_each(mask);
        self
    }
}

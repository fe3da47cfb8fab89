//! How a stage reaches an agent: one small trait, one file a harness, one way to launch them all.
//!
//! A harness says what to start and reads what it prints. It starts nothing itself: [`crate::process`] does, with
//! the same limits for every harness.

use crate::outcome::{Outcome, ProcessRecord, Session, Usage};
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
    /// Where this launch's files go (it exists): `prompt.md` (already there), `output.log`.
    pub dir: PathBuf,
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

/// What a launched agent tells the driver, in this order: `Started` once, the rest, `Ended` once.
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

//! What a launched agent tells, and what it is answered.

use crate::outcome::{Outcome, ProcessRecord, Session, Usage};
use serde::{Deserialize, Serialize};

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
    /// It asks for a permission; answered with [`super::Running::answer`].
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
    pub(super) fn texts(&mut self, each: &mut dyn FnMut(&mut String)) {
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
    /// The rule that the agent's tool proposes to allow it by from here on, spelled out; none where it proposes none.
    pub rule: Option<String>,
}

/// The answer to a [`Question`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum Answer {
    /// This once.
    Once,
    /// Whenever this agent asks for exactly the same in this run.
    Run,
    /// Whatever the rule allows that was shown, until this agent ends. The tool itself keeps to it.
    Rule,
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

impl Ending {
    /// With every secret masked.
    pub(super) fn masked(mut self, secrets: &crate::process::Secrets) -> Self {
        let mask = |text: &mut String| *text = secrets.mask(text).into_owned();
        self.outcome.text().into_iter().for_each(mask);
        mask(&mut self.message);
        mask(&mut self.tail);
        self.refusals.iter_mut().for_each(mask);
        self
    }
}

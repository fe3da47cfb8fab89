//! The signals of a launched agent, and the answers to its questions.

use crate::outcome::{Outcome, ProcessRecord, Session, Usage};
use serde::{Deserialize, Serialize};

/// A signal to the driver. `Started` comes first, and again if the agent must be started another way (its session no longer
/// exists, or its release lacks a feature); `Ended` comes once, last.
#[derive(Clone, Debug)]
pub enum Signal {
    /// The process was started; `None` for `manual`.
    Started(Option<ProcessRecord>),
    /// The session's id is known.
    Session(Session),
    /// Something to show; it decides nothing.
    Progress(Progress),
    /// A permission request; answered with [`super::Running::answer`].
    Asked(Question),
    /// The question with this id no longer needs an answer. Not sent for an answered one.
    Withdrawn(String),
    /// Processes of the agent that are still running after SIGKILL, each described with its id.
    Left(Vec<String>),
    /// The agent and all its processes have ended, except those.
    Ended(Ending),
}

/// What is shown while an agent is active. It never changes a stage's state.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
#[serde(tag = "progress", rename_all = "kebab-case")]
pub enum Progress {
    /// Text as it is streamed.
    Text { text: String },
    /// A tool call that started or changed.
    Tool {
        id: String,
        /// One line, such as `Edit docs/a.md`.
        title: String,
        /// `running`, `done` or `failed`.
        status: String,
        /// The call that started the subagent, for a subagent's call.
        parent: Option<String>,
        /// Files that the call wrote, relative to the root if inside.
        files: Vec<String>,
    },
    /// The complete to-do list.
    Todo { items: Vec<TodoItem> },
    /// The total usage so far.
    Usage { usage: Usage },
    /// A retry of the agent, or a limit that it waits for.
    Waiting {
        /// One line, such as `overloaded, retry 2 of 10 in 5s`.
        text: String,
    },
    /// A note to show once, for example that output was lost.
    Note { text: String },
}

impl Progress {
    /// Applies `each` to all texts that come from the agent, so that they can be masked.
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

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoItem {
    pub text: String,
    /// `pending`, `in_progress` or `completed`.
    pub status: String,
}

/// A permission or question that an agent waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The id, which the answer repeats.
    pub id: String,
    /// The tool to allow.
    pub tool: String,
    pub input: serde_json::Value,
    /// One line to show.
    pub title: String,
    /// The rule that the agent's tool proposes to allow it by from here on, spelled out; none where it proposes none.
    pub rule: Option<String>,
}

/// The answer to a [`Question`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum Answer {
    /// Allow this call.
    Once,
    /// Allow exactly this request, of this agent, for the whole run.
    Run,
    /// Allow by the rule that was shown, until this agent ends. The agent's tool applies it.
    Rule,
    /// Deny, with the user's reason.
    Deny {
        /// Passed on to the agent; may be empty.
        reason: String,
    },
    /// Deny, because there was nobody to ask or nobody answered in time. Listed in [`Ending::refusals`].
    Refuse {
        /// Passed on to the agent.
        why: String,
    },
}

/// How a launch ended, as the harness reads it. The driver then checks `expects` and verdicts.
#[derive(Clone, Debug)]
pub struct Ending {
    /// From the final event, or else from the exit status.
    pub outcome: Outcome,
    /// The complete final message.
    pub message: String,
    /// The usage of this launch.
    pub usage: Usage,
    /// Permissions that were refused because nobody answered, one line each.
    pub refusals: Vec<String>,
    /// The end of the output for the next attempt's prompt; at most 4 KiB.
    pub tail: String,
}

impl Ending {
    pub(super) fn masked(mut self, secrets: &crate::process::Secrets) -> Self {
        let mask = |text: &mut String| *text = secrets.mask(text).into_owned();
        self.outcome.text().into_iter().for_each(mask);
        mask(&mut self.message);
        mask(&mut self.tail);
        self.refusals.iter_mut().for_each(mask);
        self
    }
}

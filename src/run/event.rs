//! The journal's records: everything that can happen to a run.

use super::how::How;
use crate::outcome::{Harness, Outcome, ProcessRecord, Session, Usage};
use crate::plan::Inputs;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Inputs whose text is masked in the journal, each with the names of the variables that were masked in it.
pub type Hidden = BTreeMap<String, Vec<String>>;

/// An event and when it happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Wall-clock time.
    pub at: DateTime<Utc>,
    #[serde(flatten)]
    pub event: Event,
}

/// What happened. Stages are identified by their index in the list, from 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The first record of every run.
    RunStarted {
        run_id: String,
        superpower: String,
        /// The declaration's version, as written.
        version: String,
        /// The copy of the declaration in the run's directory.
        declaration: String,
        /// SHA-256 of the copy, in hexadecimal; absent in journals of format 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        digest: Option<String>,
        /// The given values only; defaults come from the declaration.
        inputs: Inputs,
        /// The harness asked for on the command line.
        harness: Option<String>,
        by: String,
        /// Set if the run was taken over from another tool's `squad.json`.
        adopted: Option<Adopted>,
        /// Inputs that contained secrets, each with the environment variables they came from, in order of appearance.
        #[serde(default, skip_serializing_if = "Hidden::is_empty")]
        hidden: Hidden,
    },
    /// A fact was asked for the first time.
    FactDecided {
        fact: String,
        /// Its value for the rest of the run.
        value: bool,
        /// Reason, for people.
        reason: String,
        /// The stage that asked.
        stage: usize,
    },
    /// A stage's condition was decided.
    StageDecided {
        stage: usize,
        run: bool,
        /// What decided it, e.g. `story.ui_true → false`; empty where there is no condition.
        why: String,
    },
    /// An agent was started.
    AgentStarted {
        /// Serial number of the launch in this run.
        launch: u32,
        harness: Harness,
        /// Absent for `manual`.
        process: Option<ProcessRecord>,
    },
    /// An agent named its session.
    SessionOpened { launch: u32, session: Session },
    /// An attempt ended and was judged.
    AttemptEnded {
        launch: u32,
        outcome: Outcome,
        /// The final message, at most 32 KiB.
        message: String,
        /// The end of the output, which the next attempt is shown.
        tail: String,
        usage: Usage,
    },
    /// A limit, or the delay before the next attempt, is over.
    WaitEnded {
        /// The stage that waited.
        stage: usize,
    },
    /// A human decided a gate.
    GateDecided {
        stage: usize,
        /// The visit that was open.
        visit: u32,
        decision: Decision,
        /// May be empty.
        comment: String,
        by: String,
        /// Digest of the files under review, if it could be computed.
        digest: Option<String>,
        /// Digest of the list that it is for, as it was shown; none where nothing was shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        review: Option<String>,
        /// Files that had changed after that list was made.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        since: Vec<String>,
        /// How; none in journals of before it was kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        how: Option<How>,
    },
    /// The state of the files was recorded; the next gate compares with it.
    BaselineTaken {
        /// The git tree that they make.
        tree: String,
        /// Number of decisions made before it.
        decisions: usize,
    },
    /// The files under review were listed for an open gate.
    ReviewShown {
        stage: usize,
        /// The visit that is open.
        visit: u32,
        /// The tree that the list compares with.
        #[serde(default)]
        from: Option<String>,
        /// The tree of the listed files; absent if there is no list.
        #[serde(default)]
        tree: Option<String>,
        /// SHA-256 of the list.
        #[serde(default)]
        digest: Option<String>,
        /// Why there is no list, if there is none.
        #[serde(default)]
        note: Option<String>,
        /// Whether it was shown because an approval did not fit the list before it, and was not taken.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        held: bool,
        /// Whether it was printed, where nobody has a window to see it in.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        printed: bool,
    },
    /// Files under review changed after the approval, and a human wants to review them again.
    GateReopened {
        /// The gate's stage, the one approved last.
        stage: usize,
    },
    /// Pause at the next boundary.
    PauseRequested { by: String },
    /// The drive ended unexpectedly: the editor was closed, or its process was found dead.
    Interrupted {
        /// Reason, for people.
        why: String,
    },
    /// Only Lua in an editor can answer what comes next, and no editor was attached.
    EditorNeeded {
        /// What is needed, for people.
        why: String,
    },
    Cancelled {
        by: String,
        /// How; none in journals of before it was kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        how: Option<How>,
    },
    Resumed {
        by: String,
        /// How; none in journals of before it was kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        how: Option<How>,
    },
    /// Retry the stage that paused the run.
    Retried {
        by: String,
        /// Comment for the agent; may be empty.
        comment: String,
        /// How; none in journals of before it was kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        how: Option<How>,
    },
    /// Skip the action of the stage that paused the run.
    Skipped {
        by: String,
        /// How; none in journals of before it was kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        how: Option<How>,
    },
    /// A launch would have run files that the user has not agreed to, so no agent was started.
    TrustLapsed {
        launch: u32,
        /// Whether the launch would have continued the work of an earlier one.
        resume: bool,
        /// The changed files, each with the kind of change.
        files: Vec<String>,
    },
    /// The user agreed to the changed files. How is told by the verb's own record, which follows.
    TrustGranted {
        by: String,
        /// The changed files, each with the kind of change.
        files: Vec<String>,
    },
    /// The user confirmed what another tool's `squad.json` claims about the run.
    AdoptionConfirmed { by: String },
    /// The declaration was edited while the run was paused, and the run continues with the new one.
    DeclarationReplaced {
        /// The new copy in the run's directory.
        declaration: String,
        /// SHA-256 of the copy, in hexadecimal; absent in journals of format 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        digest: Option<String>,
        /// Its version, as written.
        version: String,
    },
}

impl Event {
    /// Calls `each` for every text that came from outside, to mask or shorten it.
    pub fn texts(&mut self, each: &mut dyn FnMut(&mut String)) {
        match self {
            Event::RunStarted { inputs, by, .. } => {
                inputs.values_mut().for_each(&mut *each);
                each(by);
            }
            Event::FactDecided { reason: text, .. }
            | Event::StageDecided { why: text, .. }
            | Event::Interrupted { why: text }
            | Event::EditorNeeded { why: text }
            | Event::PauseRequested { by: text }
            | Event::Cancelled { by: text, .. }
            | Event::Resumed { by: text, .. }
            | Event::AdoptionConfirmed { by: text }
            | Event::Skipped { by: text, .. } => each(text),
            Event::TrustLapsed { files, .. } => files.iter_mut().for_each(&mut *each),
            Event::TrustGranted { by, files } => {
                files.iter_mut().for_each(&mut *each);
                each(by);
            }
            Event::AttemptEnded { outcome, message, tail, .. } => {
                outcome.text().into_iter().for_each(&mut *each);
                each(message);
                each(tail);
            }
            Event::GateDecided { comment, by, since, .. } => {
                each(comment);
                each(by);
                since.iter_mut().for_each(each);
            }
            Event::Retried { by, comment, .. } => {
                each(comment);
                each(by);
            }
            Event::ReviewShown { note, .. } => note.iter_mut().for_each(each),
            Event::AgentStarted { .. }
            | Event::BaselineTaken { .. }
            | Event::SessionOpened { .. }
            | Event::WaitEnded { .. }
            | Event::GateReopened { .. }
            | Event::DeclarationReplaced { .. } => {}
        }
    }
}

/// How a run was taken over from another tool's `squad.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adopted {
    /// Index of its current stage.
    pub stage: usize,
    /// The file's `status`.
    pub status: String,
    /// Whether the user has not yet confirmed what the file claims; the first verb that drives the run asks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unasked: bool,
}

/// A human's decision at a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    Approve,
    /// Go back and rework, with a comment.
    Changes,
    Reject,
}

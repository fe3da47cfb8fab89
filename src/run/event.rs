//! What can happen to a run: the journal's records.

use crate::outcome::{Harness, Outcome, ProcessRecord, Session, Usage};
use crate::plan::Inputs;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Inputs whose text the journal does not keep whole: the names of the variables that were masked in each.
pub type Hidden = BTreeMap<String, Vec<String>>;

/// An event and when it happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Wall clock.
    pub at: DateTime<Utc>,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What happened. Stages are named by their index in the list, from 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The first record of every run.
    RunStarted {
        /// The run's id.
        run_id: String,
        /// Its superpower.
        superpower: String,
        /// The declaration's version, as written.
        version: String,
        /// The copy of the declaration in the run's directory.
        declaration: String,
        /// SHA-256 of the copy, in hexadecimal; none in journals of format 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        digest: Option<String>,
        /// What the user gave; defaults are the declaration's.
        inputs: Inputs,
        /// The harness asked for on the command line.
        harness: Option<String>,
        /// Who started it.
        by: String,
        /// Set where another tool's `squad.json` was taken over.
        adopted: Option<Adopted>,
        /// Inputs that held secrets, each with the environment's variables that these came from, in their order.
        #[serde(default, skip_serializing_if = "Hidden::is_empty")]
        hidden: Hidden,
    },
    /// A fact was asked for the first time.
    FactDecided {
        /// Its canonical name.
        fact: String,
        /// Its value for the rest of the run.
        value: bool,
        /// Why, for people.
        reason: String,
        /// The stage that asked.
        stage: usize,
    },
    /// A stage's condition was decided.
    StageDecided {
        /// Which stage.
        stage: usize,
        /// Whether it runs.
        run: bool,
        /// What decided it, e.g. `story.ui_true → false`; empty where there is no condition.
        why: String,
    },
    /// An agent was started.
    AgentStarted {
        /// Serial number of the launch in this run.
        launch: u32,
        /// Which harness.
        harness: Harness,
        /// Its process; none for `manual`.
        process: Option<ProcessRecord>,
    },
    /// An agent named its session.
    SessionOpened {
        /// The launch.
        launch: u32,
        /// The session.
        session: Session,
    },
    /// An attempt is over, judged.
    AttemptEnded {
        /// The launch.
        launch: u32,
        /// How.
        outcome: Outcome,
        /// The final message, at most 32 KiB.
        message: String,
        /// The end of the output, for the next attempt.
        tail: String,
        /// What it used.
        usage: Usage,
    },
    /// The time of a limit or a pause between attempts is over.
    WaitEnded {
        /// The stage that waited.
        stage: usize,
    },
    /// A human decided a gate.
    GateDecided {
        /// The gate's stage.
        stage: usize,
        /// The visit that was open.
        visit: u32,
        /// What.
        decision: Decision,
        /// Why; empty for none.
        comment: String,
        /// Who.
        by: String,
        /// Digest of the files under review, where it could be taken.
        digest: Option<String>,
        /// Digest of the list that it is for, as it was shown; none where nothing was shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        review: Option<String>,
        /// Files that had changed after that list was made.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        since: Vec<String>,
    },
    /// The files were remembered as what the next gate compares with.
    BaselineTaken {
        /// The git tree that they make.
        tree: String,
        /// How many decisions there had been by then.
        decisions: usize,
    },
    /// The files under review were listed for an open gate.
    ReviewShown {
        /// The gate's stage.
        stage: usize,
        /// The visit that is open.
        visit: u32,
        /// The tree that was compared with.
        #[serde(default)]
        from: Option<String>,
        /// The tree that the files made; none where there is no list.
        #[serde(default)]
        tree: Option<String>,
        /// SHA-256 of the list.
        #[serde(default)]
        digest: Option<String>,
        /// Why there is no list, where there is none.
        #[serde(default)]
        note: Option<String>,
        /// Whether it was shown because an approval did not fit the list before it, and was not taken.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        held: bool,
        /// Whether it was printed, where nobody has a window to see it in.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        printed: bool,
    },
    /// Files under review had changed since the approval, and a human wants to look again.
    GateReopened {
        /// The gate's stage, approved last.
        stage: usize,
    },
    /// Pause at the next boundary.
    PauseRequested {
        /// Who.
        by: String,
    },
    /// The drive ended without the run's doing: the editor left, or was found to have died.
    Interrupted {
        /// Why, for people.
        why: String,
    },
    /// Cancelled for good.
    Cancelled {
        /// Who.
        by: String,
    },
    /// Go on.
    Resumed {
        /// Who.
        by: String,
    },
    /// Try the stage that the run is paused at again.
    Retried {
        /// Who.
        by: String,
        /// Announcement to the agent; empty for none.
        comment: String,
    },
    /// Do without the action of the stage that the run is paused at.
    Skipped {
        /// Who.
        by: String,
    },
    /// What a launch would have driven is not what the user agreed to: no agent was started for it.
    TrustLapsed {
        /// The launch.
        launch: u32,
        /// Whether it was to go on with what an earlier launch has begun.
        resume: bool,
        /// What has changed, each with how.
        files: Vec<String>,
    },
    /// The user agreed to what has changed since they last did.
    TrustGranted {
        /// Who.
        by: String,
        /// What had changed, each with how.
        files: Vec<String>,
    },
    /// The user agreed to what another tool's `squad.json` claims about the run.
    AdoptionConfirmed {
        /// Who.
        by: String,
    },
    /// The declaration was edited while the run was paused, and the run goes on with the new one.
    DeclarationReplaced {
        /// The new copy in the run's directory.
        declaration: String,
        /// SHA-256 of the copy, in hexadecimal; none in journals of format 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        digest: Option<String>,
        /// Its version, as written.
        version: String,
    },
}

impl Event {
    /// Every text of it that somebody else wrote, for whoever masks or shortens.
    pub fn texts(&mut self, each: &mut dyn FnMut(&mut String)) {
        match self {
            Event::RunStarted { inputs, by, .. } => {
                inputs.values_mut().for_each(&mut *each);
                each(by);
            }
            Event::FactDecided { reason: text, .. }
            | Event::StageDecided { why: text, .. }
            | Event::Interrupted { why: text }
            | Event::PauseRequested { by: text }
            | Event::Cancelled { by: text }
            | Event::Resumed { by: text }
            | Event::AdoptionConfirmed { by: text }
            | Event::Skipped { by: text } => each(text),
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
            Event::Retried { by, comment } => {
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

/// A run taken over from another tool's `squad.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adopted {
    /// Index of the stage that it stands at.
    pub stage: usize,
    /// The file's `status`.
    pub status: String,
    /// Whether nobody has been shown yet what the file claims: the first verb that drives the run asks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unasked: bool,
}

/// What a human decides at a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// Go on.
    Approve,
    /// Go back, with a comment.
    Changes,
    /// End the run.
    Reject,
}

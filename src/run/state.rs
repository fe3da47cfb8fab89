//! The state of a run. Only [`super::machine`] changes it.

use super::event::{Adopted, Decision};
use super::failure::Failure;
pub use super::gate_record::GateRecord;
pub use super::reason::Reason;
use super::shown::{Baseline, Shown};
use crate::outcome::{Harness, ProcessRecord, Session, Usage};
use crate::plan::Plan;
use chrono::{DateTime, Utc};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct Run {
    /// What it walks through.
    pub plan: Arc<Plan>,
    pub run_id: String,
    /// The harness given on the command line.
    pub harness: Option<String>,
    pub started_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    /// Running, paused, or over.
    pub phase: Phase,
    /// Position in the order of execution; the number of stages when the run is complete.
    pub cursor: usize,
    /// One entry for each stage, by its index in the list.
    pub stages: Vec<StageState>,
    /// Facts decided so far, by name.
    pub facts: BTreeMap<String, FactRecord>,
    /// Number of launches so far, which is the newest launch's serial number.
    pub launches: u32,
    /// The newest launch that reported that its agent started, and so may have done work.
    pub last_started: u32,
    /// Whether to pause before the next stage or attempt.
    pub pausing: bool,
    /// The comment of "request changes", until the first action after the rework target takes it.
    pub rework_comment: Option<String>,
    /// Unconfirmed claims of another tool's `squad.json` about this run; the first verb that drives the run asks.
    pub unconfirmed: Option<Adopted>,
    /// Decisions in the order they were made.
    pub decisions: Vec<GateRecord>,
    /// The files that the next gate compares with.
    pub baseline: Option<Baseline>,
    /// The lists that were shown at each visit of a gate, by stage and visit; the newest last.
    pub shown: BTreeMap<(usize, u32), Vec<Shown>>,
    /// Time spent running, in milliseconds, up to `active_since`.
    pub active_ms: i64,
    /// Start of the current period of running.
    pub active_since: Option<DateTime<Utc>>,
}

/// Running, paused, or over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// A driver works on it, or should.
    Running,
    /// Waits for a verb from the user.
    Paused {
        reason: Reason,
        detail: String,
    },
    /// Every stage is done.
    Complete,
    Cancelled {
        by: String,
    },
    /// Rejected at a gate.
    Rejected {
        by: String,
        comment: String,
        at: DateTime<Utc>,
    },
}

impl Phase {
    /// The word for it in `squad.json`.
    pub fn word(&self) -> &'static str {
        match self {
            Phase::Running => "running",
            Phase::Paused { .. } => "paused",
            Phase::Complete => "complete",
            Phase::Cancelled { .. } => "cancelled",
            Phase::Rejected { .. } => "rejected",
        }
    }

    /// The state with the kind of pause, for example `paused at a gate`.
    pub fn words(&self) -> String {
        match self {
            Phase::Paused { reason: Reason::Gate, .. } => "paused at a gate".to_owned(),
            Phase::Paused { reason, .. } => format!("paused ({})", reason.word()),
            _ => self.word().to_owned(),
        }
    }

    /// Whether the run is over.
    pub fn ended(&self) -> bool {
        matches!(self, Phase::Complete | Phase::Cancelled { .. } | Phase::Rejected { .. })
    }

    pub fn reason(&self) -> Option<Reason> {
        match self {
            Phase::Paused { reason, .. } => Some(*reason),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactRecord {
    pub value: bool,
    pub reason: String,
    /// Index of the stage that asked first.
    pub stage: usize,
}

/// The state of one stage.
#[derive(Clone, Debug, Default)]
pub struct StageState {
    pub step: Step,
    /// The current visit, or the last one.
    pub visit: Visit,
    /// Whether the stage runs again in a rework without deciding its condition again.
    pub pinned: bool,
    /// Comments of humans, until the stage passes.
    pub comments: Vec<String>,
    pub launch: Option<Launch>,
    /// The newest agent session.
    pub session: Option<Session>,
    /// Final message of the newest passed attempt, or the comment of a gate.
    pub result: Option<String>,
    /// Usage of all its launches.
    pub usage: Usage,
}

/// One pass through a stage, from its condition to its end. A rework starts another visit.
#[derive(Clone, Debug, Default)]
pub struct Visit {
    /// Counted from 1; 0 before the first.
    pub number: u32,
    pub entered_at: Option<DateTime<Utc>>,
    /// When the stage was done.
    pub done_at: Option<DateTime<Utc>>,
    /// Whether the user skipped the action; the stage's own gate still asks.
    pub skipped_manually: bool,
    pub launches: u32,
    /// Attempts that count against `max_attempts`.
    pub spent: u32,
    /// Failures, oldest first.
    pub failures: Vec<Failure>,
    /// Why the last launch stopped early, until a later one ends.
    pub stopped: Option<Stop>,
    /// Working time of finished launches, in milliseconds.
    pub worked_ms: i64,
}

impl Visit {
    /// A new visit, in which nothing has happened yet.
    pub(super) fn next(&self, at: DateTime<Utc>) -> Self {
        Self { number: self.number + 1, entered_at: Some(at), ..Self::default() }
    }

    /// Gives the visit the next number, because its gate asks again about the same work.
    pub(super) fn reopened(&mut self, at: DateTime<Utc>) {
        self.number += 1;
        self.entered_at = Some(at);
        self.done_at = None;
    }

    /// Adds the working time of a launch.
    pub(super) fn worked(&mut self, since: DateTime<Utc>, until: DateTime<Utc>) {
        self.worked_ms += (until - since).num_milliseconds().max(0);
    }
}

#[derive(Clone, Debug)]
pub struct Launch {
    /// Serial number in the run.
    pub number: u32,
    /// The harness, once it has started.
    pub harness: Option<Harness>,
    /// The process, which may still be running.
    pub process: Option<ProcessRecord>,
}

/// Why a launch stopped before the stage's end; the prompt of the next launch says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It was interrupted by a pause, a crash, or the end of the editor.
    CutOff,
    /// A limit was reached.
    Limited { why: String },
    /// The agent stopped and the run was paused because of it.
    Held {
        reason: Reason,
        /// The agent's question, or what it needs.
        why: String,
        /// Whether a human has answered since.
        answered: bool,
        /// Whether a later launch was interrupted.
        cut_off: bool,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Step {
    /// Not entered in this visit.
    #[default]
    Waiting,
    /// Its condition is being decided.
    Deciding,
    /// To be launched when the run continues.
    Ready {
        /// Whether to continue in the agent's own session.
        resume: bool,
    },
    Working {
        launch: u32,
        since: DateTime<Utc>,
    },
    /// Waits for a limit to pass, or for the next attempt.
    Delayed {
        until: DateTime<Utc>,
        /// Whether it is a limit (else the delay before the next attempt).
        limited: bool,
        why: String,
    },
    /// The stage's attempt paused the run.
    Held {
        why: String,
    },
    /// Its gate is open.
    AtGate,
    Done(Done),
}

/// How a stage ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done {
    /// The action passed (or the gate is automatic).
    Passed,
    Approved,
    /// Its condition was false.
    Skipped {
        /// The condition and its value.
        why: String,
    },
    /// A human skipped its action.
    SkippedManually,
    /// Counted as done when the run was taken over from another tool.
    Adopted,
}

impl StageState {
    /// Whether this is a manual stage that a human is working on.
    pub fn is_manual(&self) -> bool {
        let harness = self.launch.as_ref().and_then(|launch| launch.harness.as_ref());
        matches!(self.step, Step::Working { .. }) && harness == Some(&Harness::Manual)
    }
}

impl Run {
    /// The stage at the cursor; none when the run is complete.
    pub fn current(&self) -> Option<usize> {
        self.plan.order.get(self.cursor).copied()
    }

    /// The current stage's position in the list, from 1; the number of stages when the run is complete.
    pub fn current_position(&self) -> usize {
        self.current().map_or(self.plan.total(), |stage| stage + 1)
    }

    /// The value of `{{stages.X.result}}`.
    pub fn result(&self, stage: usize) -> String {
        match (&self.stages[stage].step, &self.stages[stage].result) {
            (Step::Done(Done::Skipped { .. } | Done::SkippedManually), _) | (_, None) => String::new(),
            (_, Some(result)) => result.clone(),
        }
    }

    pub fn label(&self, stage: usize) -> String {
        self.plan.label(stage, &|other| self.result(other))
    }

    /// The current stage, if its own attempt has paused the run.
    pub fn held(&self) -> Option<usize> {
        self.current().filter(|&stage| matches!(self.stages[stage].step, Step::Held { .. }))
    }

    /// The open gate: its stage and visit.
    pub fn open_gate(&self) -> Option<(usize, u32)> {
        let stage = self.current()?;
        let open = self.phase.reason() == Some(Reason::Gate) && self.stages[stage].step == Step::AtGate;
        open.then(|| (stage, self.stages[stage].visit.number))
    }

    /// What was shown at a visit of a gate, the newest last.
    pub fn shown_at(&self, stage: usize, visit: u32) -> &[Shown] {
        self.shown.get(&(stage, visit)).map_or(&[], Vec::as_slice)
    }

    /// The list that a decision is for.
    pub fn shown_for(&self, decision: &GateRecord) -> Option<&Shown> {
        let shown = self.shown_at(decision.stage, decision.visit);
        match &decision.review {
            Some(digest) => shown.iter().rfind(|shown| shown.digest.as_ref() == Some(digest)),
            // In old journals the newest list was the one that counted.
            None => shown.last(),
        }
    }

    /// The newest decision, where it is an approval that no agent has been started after. A launch that was decided
    /// upon, but never heard of, did nothing.
    pub fn unused_approval(&self) -> Option<&GateRecord> {
        self.decisions
            .last()
            .filter(|it| it.decision == Decision::Approve && self.last_started <= it.launches)
    }

    /// Whether the stage's action ran and passed in the current visit.
    pub fn action_ran(&self, stage: usize) -> bool {
        self.plan.has_action(stage)
            && !self.stages[stage].visit.skipped_manually
            && matches!(self.stages[stage].step, Step::Done(Done::Passed | Done::Approved | Done::Adopted))
    }

    /// Whether every stage was skipped by its condition.
    pub fn nothing_ran(&self) -> bool {
        self.stages.iter().all(|stage| matches!(stage.step, Step::Done(Done::Skipped { .. })))
    }

    /// The nearest stage before this one whose action ran.
    pub fn action_before(&self, stage: usize) -> Option<usize> {
        let earlier = &self.plan.order[..self.plan.rank(stage)];
        earlier.iter().rev().copied().find(|&earlier| self.action_ran(earlier))
    }

    /// Why a stage failed, as a human is shown it.
    pub fn failure(&self, stage: usize) -> Option<String> {
        self.stages[stage].visit.failures.last().map(Failure::shown)
    }

    pub fn usage(&self) -> Usage {
        let mut total = Usage::default();
        self.stages.iter().for_each(|stage| total.add(&stage.usage));
        total
    }

    /// Processes that an earlier drive may have left behind.
    pub fn processes(&self) -> Vec<ProcessRecord> {
        let launches = self.stages.iter().filter_map(|stage| stage.launch.as_ref());
        launches.filter_map(|launch| launch.process.clone()).collect()
    }

    /// Whether the run was taken over at this stage after the stage's work was done.
    pub(super) fn adopted_at_gate(&self, adopted: &Adopted) -> bool {
        self.plan.has_human_gate(adopted.stage)
            && (!self.plan.has_action(adopted.stage) || adopted.status == "paused")
    }
}

/// A gate's id, `STAGE.VISIT`, with the stage's position from 1.
pub fn gate_id(stage: usize, visit: u32) -> String {
    format!("{}.{visit}", stage + 1)
}

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

/// A run.
#[derive(Clone, Debug)]
pub struct Run {
    /// What it walks through.
    pub plan: Arc<Plan>,
    /// Its id.
    pub run_id: String,
    /// The harness asked for on the command line.
    pub harness: Option<String>,
    /// When it began.
    pub started_at: DateTime<Utc>,
    /// When something last happened.
    pub updated_at: DateTime<Utc>,
    /// Running, paused, or over.
    pub phase: Phase,
    /// The current place in the order of execution; the number of stages at the end.
    pub cursor: usize,
    /// One for each stage, by its index in the list.
    pub stages: Vec<StageState>,
    /// Facts decided so far, by name.
    pub facts: BTreeMap<String, FactRecord>,
    /// How many agents were launched; the newest launch's serial number.
    pub launches: u32,
    /// The newest launch that was heard of: its agent may have worked.
    pub heard: u32,
    /// Whether a pause is due at the next boundary.
    pub pausing: bool,
    /// "Request changes" that the first action from the rework target on still has to be told.
    pub rework_comment: Option<String>,
    /// What another tool's file claims about this run, and nobody has confirmed: driving it asks first.
    pub unconfirmed: Option<Adopted>,
    /// Decisions in the order they were made.
    pub decisions: Vec<GateRecord>,
    /// What the next gate compares with.
    pub baseline: Option<Baseline>,
    /// What was shown at each visit of a gate, by its stage and the visit; the newest last.
    pub shown: BTreeMap<(usize, u32), Vec<Shown>>,
    /// Time spent not paused, in milliseconds, up to `active_since`.
    pub active_ms: i64,
    /// Since when it is running, if it is.
    pub active_since: Option<DateTime<Utc>>,
}

/// Running, paused, or over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Somebody drives it, or should.
    Running,
    /// Waits for an explicit verb.
    Paused {
        /// Why.
        reason: Reason,
        /// In words.
        detail: String,
    },
    /// Every stage is done.
    Complete,
    /// Cancelled.
    Cancelled {
        /// Who.
        by: String,
    },
    /// Rejected at a gate.
    Rejected {
        /// Who.
        by: String,
        /// Why; empty for none.
        comment: String,
        /// When.
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

    /// The same with why it is paused, e.g. `paused (gate)`.
    pub fn words(&self) -> String {
        match self {
            Phase::Paused { reason, .. } => format!("paused ({})", reason.word()),
            _ => self.word().to_owned(),
        }
    }

    /// Whether nothing can happen any more.
    pub fn ended(&self) -> bool {
        matches!(self, Phase::Complete | Phase::Cancelled { .. } | Phase::Rejected { .. })
    }

    /// Why it is paused, if it is.
    pub fn reason(&self) -> Option<Reason> {
        match self {
            Phase::Paused { reason, .. } => Some(*reason),
            _ => None,
        }
    }
}

/// A fact, decided once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactRecord {
    /// Its value.
    pub value: bool,
    /// Why.
    pub reason: String,
    /// Index of the stage that asked first.
    pub stage: usize,
}

/// The state of one stage.
#[derive(Clone, Debug, Default)]
pub struct StageState {
    /// Where it is.
    pub step: Step,
    /// The current visit, or the last one.
    pub visit: Visit,
    /// Whether a rework keeps the verdict "run".
    pub pinned: bool,
    /// What humans told it, until it passes.
    pub comments: Vec<String>,
    /// The newest launch, if there was one.
    pub launch: Option<Launch>,
    /// The newest agent session.
    pub session: Option<Session>,
    /// Final message of the newest passed attempt; a gate's comment.
    pub result: Option<String>,
    /// What all its launches used.
    pub usage: Usage,
}

/// One way through a stage, from its condition to its end. A rework visits it again.
#[derive(Clone, Debug, Default)]
pub struct Visit {
    /// Counted from 1; 0 before the first.
    pub number: u32,
    /// When it began.
    pub entered_at: Option<DateTime<Utc>>,
    /// When the stage was done.
    pub done_at: Option<DateTime<Utc>>,
    /// Whether the action was skipped by hand; the stage's own gate still asks.
    pub by_hand: bool,
    /// Launches.
    pub launches: u32,
    /// Attempts that counted.
    pub spent: u32,
    /// What went wrong, oldest first.
    pub failures: Vec<Failure>,
    /// Why the last launch stopped before its end, as long as no later one has ended.
    pub stopped: Option<Stop>,
    /// Working time of finished launches, in milliseconds.
    pub worked_ms: i64,
}

impl Visit {
    /// The visit after this one: nothing has happened in it yet.
    pub(super) fn next(&self, at: DateTime<Utc>) -> Self {
        Self { number: self.number + 1, entered_at: Some(at), ..Self::default() }
    }

    /// The same visit under the next number, since its gate asks again about the same work.
    pub(super) fn reopened(&mut self, at: DateTime<Utc>) {
        self.number += 1;
        self.entered_at = Some(at);
        self.done_at = None;
    }

    /// Counts the time that a launch worked.
    pub(super) fn worked(&mut self, since: DateTime<Utc>, until: DateTime<Utc>) {
        self.worked_ms += (until - since).num_milliseconds().max(0);
    }
}

/// A launch of an agent.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Its serial number in the run.
    pub number: u32,
    /// What carries it out, once it has started: until then no human has it in hand.
    pub harness: Option<Harness>,
    /// Its process, which may still be there.
    pub process: Option<ProcessRecord>,
}

/// Why a launch stopped before the stage's end, as the next one is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It was cut off: a pause, a crash, an editor that was left.
    CutOff,
    /// A limit was reached.
    Limited {
        /// In a few words.
        why: String,
    },
    /// It stopped by itself, and the run was paused because of it.
    Held {
        /// As which pause.
        reason: Reason,
        /// What it asked, or what it lacks.
        why: String,
        /// Whether a human has said something since.
        answered: bool,
        /// Whether a launch since was cut off.
        cut_off: bool,
    },
}

/// Where a stage is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Step {
    /// Not entered in this visit.
    #[default]
    Waiting,
    /// Its condition is being decided.
    Deciding,
    /// To be launched as soon as the run goes on.
    Ready {
        /// Whether in the agent's own session.
        resume: bool,
    },
    /// An agent works.
    Working {
        /// Which launch.
        launch: u32,
        /// Since when.
        since: DateTime<Utc>,
    },
    /// Waits for a limit to pass, or between attempts.
    Resting {
        /// Until when.
        until: DateTime<Utc>,
        /// Whether it is a limit (else a pause before the next attempt).
        limited: bool,
        /// In a few words.
        why: String,
    },
    /// The run is paused because of it.
    Held {
        /// In a few words.
        why: String,
    },
    /// Its gate is open.
    AtGate,
    /// Done.
    Done(Done),
}

/// How a stage was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done {
    /// Its action passed (or it is an automatic gate).
    Passed,
    /// A human approved.
    Approved,
    /// Its condition was false.
    Skipped {
        /// What decided it.
        why: String,
    },
    /// A human skipped its action.
    SkippedByHand,
    /// Counted as run when another tool's state was taken over.
    Adopted,
}

impl StageState {
    /// Whether a human carries it out at this moment.
    pub fn in_hand(&self) -> bool {
        let harness = self.launch.as_ref().and_then(|launch| launch.harness.as_ref());
        matches!(self.step, Step::Working { .. }) && harness == Some(&Harness::Manual)
    }
}

impl Run {
    /// The stage at the cursor, if the run is not at its end.
    pub fn current(&self) -> Option<usize> {
        self.plan.order.get(self.cursor).copied()
    }

    /// The current stage's position in the list, from 1; the number of stages at the end.
    pub fn current_position(&self) -> usize {
        self.current().map_or(self.plan.total(), |stage| stage + 1)
    }

    /// What `{{stages.X.result}}` stands for.
    pub fn result(&self, stage: usize) -> String {
        match (&self.stages[stage].step, &self.stages[stage].result) {
            (Step::Done(Done::Skipped { .. } | Done::SkippedByHand), _) | (_, None) => String::new(),
            (_, Some(result)) => result.clone(),
        }
    }

    /// A stage's label.
    pub fn label(&self, stage: usize) -> String {
        self.plan.label(stage, &|other| self.result(other))
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
        self.decisions.last().filter(|it| it.decision == Decision::Approve && self.heard <= it.launches)
    }

    /// Whether the stage's action was dispatched and passed, in the visit that stands.
    pub fn action_ran(&self, stage: usize) -> bool {
        self.plan.acts(stage)
            && !self.stages[stage].visit.by_hand
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

    /// Why a failed stage failed, as a human is shown it.
    pub fn failure(&self, stage: usize) -> Option<String> {
        self.stages[stage].visit.failures.last().map(Failure::shown)
    }

    /// What all stages used.
    pub fn usage(&self) -> Usage {
        let mut total = Usage::default();
        self.stages.iter().for_each(|stage| total.add(&stage.usage));
        total
    }

    /// Processes that may have been left behind by an earlier drive.
    pub fn processes(&self) -> Vec<ProcessRecord> {
        let launches = self.stages.iter().filter_map(|stage| stage.launch.as_ref());
        launches.filter_map(|launch| launch.process.clone()).collect()
    }

    /// Whether the run was taken over at this stage with its work already done.
    pub(super) fn adopted_at_gate(&self, adopted: &Adopted) -> bool {
        self.plan.asks(adopted.stage) && (!self.plan.acts(adopted.stage) || adopted.status == "paused")
    }
}

/// How a decision names a gate: `STAGE.VISIT`, the stage by its position from 1.
pub fn gate_id(stage: usize, visit: u32) -> String {
    format!("{}.{visit}", stage + 1)
}

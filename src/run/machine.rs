//! The transitions of a run: `step(&mut Run, &Record) -> Result<Vec<Effect>, Refusal>`.
//!
//! A step checks first and changes after, so that a refused event leaves the run as it was. Nothing here reads a
//! clock or a file; a run replayed from its journal comes out the same.

use super::effect::{Effect, Notice};
use super::event::{Event, Record};
use super::log::{self, place};
use super::shown::{Baseline, Shown};
use super::state::{Done, FactRecord, Phase, Reason, Run, StageState, Step, Stop};
use super::{attempt, gate, trust, verbs};
use crate::plan::Plan;
use chrono::{DateTime, Utc};
use std::collections::BTreeMap;
use std::sync::Arc;
use thiserror::Error;

/// Why an event was refused. The run is as it was.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The run is over.
    #[error("{words}")]
    Ended {
        /// How, as its snapshot has it.
        state: &'static str,
        /// The same in a sentence.
        words: String,
    },
    /// The verb does not fit why the run is paused, or it is not paused.
    #[error("{verb} is not for a run that is {state}")]
    NotNow {
        /// The verb.
        verb: &'static str,
        /// E.g. `paused (gate)`.
        state: String,
    },
    /// No gate is open.
    #[error("no gate is waiting")]
    NoGate,
    /// Another gate, or another visit of it, is open.
    #[error("the decision is for gate {given}, but gate {open} is open")]
    StaleGate {
        /// What the decision named.
        given: String,
        /// What is open.
        open: String,
    },
    /// "Request changes" without saying which.
    #[error("changes need a comment that says what to change")]
    CommentMissing,
    /// No stage before the gate has done any work.
    #[error("there is nothing to rework before this gate: no earlier stage has run an action")]
    NothingToRework,
    /// It is about a launch, a stage or a wait that is not current. Expected in races; nothing to show.
    #[error("it is about something that is over")]
    Stale,
}

/// Begins a run from its first record.
///
/// # Panics
/// If the record is not `RunStarted`; the journal's reader has checked that.
pub fn start(plan: Arc<Plan>, record: &Record) -> (Run, Vec<Effect>) {
    let Event::RunStarted { run_id, harness, adopted, .. } = &record.event else {
        panic!("a run begins with run-started")
    };
    let mut run = Run {
        run_id: run_id.clone(),
        harness: harness.clone(),
        started_at: record.at,
        updated_at: record.at,
        phase: Phase::Running,
        cursor: 0,
        stages: vec![StageState::default(); plan.total()],
        facts: BTreeMap::new(),
        launches: 0,
        heard: 0,
        pausing: false,
        rework_comment: None,
        unconfirmed: adopted.clone().filter(|adopted| adopted.unasked),
        decisions: Vec::new(),
        baseline: None,
        shown: BTreeMap::new(),
        active_ms: 0,
        active_since: None,
        plan,
    };
    let mut out = vec![Effect::TakeBaseline];
    if let Some(adopted) = adopted {
        run.cursor = run.plan.rank(adopted.stage);
        for rank in 0..run.cursor {
            run.stages[run.plan.order[rank]].step = Step::Done(Done::Adopted);
        }
        let state = &mut run.stages[adopted.stage];
        state.visit = 1;
        state.pinned = true;
        state.entered_at = Some(record.at);
        if run.adopted_at_gate(adopted) {
            run.stages[adopted.stage].step = Step::AtGate;
            run.phase = Phase::Paused { reason: Reason::Gate, detail: String::new() };
        } else {
            run.stages[adopted.stage].step = Step::Ready { resume: false };
            run.phase = Phase::Paused { reason: Reason::Interrupted, detail: "taken over".into() };
        }
        out.push(Effect::Leave);
        return (run, out);
    }
    run.active_since = Some(record.at);
    let (name, version) = (run.plan.name(), &run.plan.declaration.version.value);
    out.push(Effect::Log(format!("LOADED  {name}  v{version}  stages={}", run.plan.total())));
    out.push(Effect::Tell(Notice::RunStarted));
    advance(&mut run, record.at, &mut out);
    (run, out)
}

/// Applies one event. `RunStarted` and `DeclarationReplaced` are not for here: see [`start`] and [`super::replace`].
pub fn step(run: &mut Run, record: &Record) -> Result<Vec<Effect>, Refusal> {
    let at = record.at;
    let mut out = Vec::new();
    if run.phase.ended() {
        return Err(match &record.event {
            Event::AttemptEnded { .. } | Event::WaitEnded { .. } | Event::AgentStarted { .. } => {
                Refusal::Stale
            }
            _ => Refusal::Ended { state: run.phase.word(), words: verbs::ended(run) },
        });
    }
    match &record.event {
        Event::RunStarted { .. } | Event::DeclarationReplaced { .. } => return Err(Refusal::Stale),
        Event::FactDecided { fact, value, reason, stage } => {
            if run.facts.contains_key(fact) || *stage >= run.stages.len() {
                return Err(Refusal::Stale);
            }
            let record = FactRecord { value: *value, reason: reason.clone(), stage: *stage };
            run.facts.insert(fact.clone(), record);
        }
        Event::StageDecided { stage, run: runs, why } => {
            if run.phase != Phase::Running
                || run.current() != Some(*stage)
                || run.stages[*stage].step != Step::Deciding
            {
                return Err(Refusal::Stale);
            }
            if *runs {
                begin(run, *stage, at, &mut out);
            } else {
                skip(run, *stage, why, at, &mut out);
            }
            advance(run, at, &mut out);
        }
        Event::AgentStarted { launch, harness, process } => {
            let stage = launched(run, *launch).ok_or(Refusal::Stale)?;
            run.heard = run.heard.max(*launch);
            run.stages[stage].process = process.clone();
            run.stages[stage].harness = Some(harness.clone());
        }
        Event::SessionOpened { launch, session } => {
            let stage = launched(run, *launch).ok_or(Refusal::Stale)?;
            run.stages[stage].session = Some(session.clone());
        }
        Event::AttemptEnded { launch, outcome, message, tail, usage } => {
            attempt::ended(
                run,
                at,
                attempt::Ended { launch: *launch, outcome, message, tail, usage },
                &mut out,
            )?;
        }
        Event::WaitEnded { stage } => {
            let resting =
                run.stages.get(*stage).is_some_and(|state| matches!(state.step, Step::Resting { .. }));
            if run.phase != Phase::Running || !resting {
                return Err(Refusal::Stale);
            }
            launch(run, *stage, true, at, &mut out);
        }
        Event::BaselineTaken { tree, decisions } => {
            run.baseline = Some(Baseline { tree: tree.clone(), decisions: *decisions });
        }
        Event::ReviewShown { stage, visit, from, tree, digest, note } => {
            if run.open_gate() != Some((*stage, *visit)) {
                return Err(Refusal::Stale);
            }
            let (from, tree, digest, note) = (from.clone(), tree.clone(), digest.clone(), note.clone());
            run.shown.insert((*stage, *visit), Shown { from, tree, digest, note });
        }
        Event::GateDecided { .. } => gate::decided(run, record, &mut out)?,
        Event::GateReopened { stage } => gate::reopen(run, *stage, at, &mut out)?,
        Event::PauseRequested { .. } => {
            if run.phase != Phase::Running {
                return Err(verbs::not_now(run, "pause"));
            }
            run.pausing = true;
            // Nothing is under way: this is a boundary already.
            let idle = |stage: usize| matches!(run.stages[stage].step, Step::Resting { .. } | Step::Deciding);
            if run.current().is_some_and(idle) {
                pause(run, Reason::User, String::new(), at, &mut out);
            }
        }
        Event::Interrupted { why } => {
            if run.phase != Phase::Running {
                return Err(verbs::not_now(run, "interrupt"));
            }
            stop(run, at, &mut out);
            pause(run, Reason::Interrupted, why.clone(), at, &mut out);
        }
        Event::Cancelled { by } => {
            stop(run, at, &mut out);
            settle(run, at);
            run.phase = Phase::Cancelled { by: by.clone() };
            out.push(Effect::Log(format!("CANCELLED  {}", run.plan.name())));
            finish(run, "cancelled", &mut out);
        }
        Event::TrustLapsed { launch, resume, files } => {
            trust::lapsed(run, *launch, *resume, files, at, &mut out)?;
        }
        Event::TrustGranted { files, .. } => trust::granted(files, &mut out),
        Event::AdoptionConfirmed { .. } => run.unconfirmed = None,
        Event::Resumed { .. } => verbs::resume(run, "resume", "", at, &mut out)?,
        Event::Retried { comment, .. } => verbs::resume(run, "retry", comment, at, &mut out)?,
        Event::Skipped { .. } => {
            let stage = verbs::skippable(run)?;
            if run.phase == Phase::Running {
                stop(run, at, &mut out);
            } else {
                go_on(run, at);
            }
            out.push(Effect::Log(format!(
                "SKIP  stage {}: {}  (by hand)",
                place(run, stage),
                run.label(stage)
            )));
            run.stages[stage].comments.clear();
            run.stages[stage].result = None;
            run.stages[stage].by_hand = true;
            if run.plan.asks(stage) {
                gate::open(run, stage, at, &mut out);
            } else {
                done(run, stage, Done::SkippedByHand, at, &mut out);
                advance(run, at, &mut out);
            }
        }
    }
    run.updated_at = at;
    Ok(out)
}

/// Walks on from the cursor until something has to happen outside.
pub(super) fn advance(run: &mut Run, at: DateTime<Utc>, out: &mut Vec<Effect>) {
    while let Some(stage) = run.current() {
        match run.stages[stage].step {
            Step::Done(_) => run.cursor += 1,
            Step::Waiting => {
                if run.pausing {
                    return pause(run, Reason::User, String::new(), at, out);
                }
                let state = &mut run.stages[stage];
                state.visit += 1;
                state.entered_at = Some(at);
                state.done_at = None;
                state.worked_ms = 0;
                state.launches = 0;
                state.by_hand = false;
                state.stopped = None;
                if state.pinned {
                    begin(run, stage, at, out);
                } else {
                    state.step = Step::Deciding;
                    out.push(Effect::Decide { stage });
                }
            }
            _ => return,
        }
    }
    settle(run, at);
    run.phase = Phase::Complete;
    let note = if run.nothing_ran() { "  (nothing ran: every stage was skipped)" } else { "" };
    out.push(Effect::Log(format!("COMPLETE  {}{note}", run.plan.name())));
    finish(run, "complete", out);
}

/// The stage's verdict is "run": dispatches its action, or opens its gate. What needs neither is done; to walk on from
/// there is [`advance`]'s, which calls this in a loop: a rework may pass by 10,000 such stages.
fn begin(run: &mut Run, stage: usize, at: DateTime<Utc>, out: &mut Vec<Effect>) {
    let label = run.label(stage);
    out.push(Effect::Log(format!("STAGE {}: {label}", place(run, stage))));
    out.push(Effect::Tell(Notice::StageStarted { stage: stage + 1, visit: run.stages[stage].visit, label }));
    if run.plan.acts(stage) {
        let comment = run.rework_comment.take();
        let resume = comment.is_some();
        run.stages[stage].comments.extend(comment);
        launch(run, stage, resume, at, out);
    } else if run.plan.asks(stage) {
        gate::open(run, stage, at, out);
    } else {
        done(run, stage, Done::Passed, at, out);
    }
}

/// Starts an agent for the stage: anew, or to go on with what an earlier launch has begun.
pub(super) fn launch(run: &mut Run, stage: usize, resume: bool, at: DateTime<Utc>, out: &mut Vec<Effect>) {
    run.launches += 1;
    let state = &mut run.stages[stage];
    state.step = Step::Working { launch: run.launches, since: at };
    state.launch = Some(run.launches);
    state.launches += 1;
    state.process = None;
    // Which one it is now is told when it has started: until then no human has it in hand.
    state.harness = None;
    let session = state.session.clone().filter(|_| resume);
    let (kind, actor) = run.plan.actor(stage);
    let kind = if kind == "pipeline" { "agent" } else { kind };
    out.push(Effect::Log(format!("DISPATCH  {kind}={actor}")));
    out.push(Effect::StartAgent { stage, launch: run.launches, resume, session });
}

fn skip(run: &mut Run, stage: usize, why: &str, at: DateTime<Utc>, out: &mut Vec<Effect>) {
    let label = run.label(stage);
    out.push(Effect::Log(format!("SKIP   stage {}: {label}  (when={why})", place(run, stage))));
    done(run, stage, Done::Skipped { why: why.to_owned() }, at, out);
}

/// Marks a stage done and tells so.
pub(super) fn done(run: &mut Run, stage: usize, how: Done, at: DateTime<Utc>, out: &mut Vec<Effect>) {
    let (outcome, note) = match &how {
        Done::Passed | Done::Adopted => ("passed", String::new()),
        Done::Approved => ("approved", String::new()),
        Done::Skipped { why } => ("skipped", why.clone()),
        Done::SkippedByHand => ("skipped", "by hand".to_owned()),
    };
    let label = run.label(stage);
    let state = &mut run.stages[stage];
    state.step = Step::Done(how);
    state.done_at = Some(at);
    state.pinned = false;
    out.push(Effect::Tell(Notice::StageFinished { stage: stage + 1, label, outcome, note }));
}

/// Pauses the run.
pub(super) fn pause(run: &mut Run, reason: Reason, detail: String, at: DateTime<Utc>, out: &mut Vec<Effect>) {
    settle(run, at);
    run.pausing = false;
    run.phase = Phase::Paused { reason, detail: detail.clone() };
    out.push(Effect::Log(log::paused(run, reason)));
    out.push(Effect::Tell(Notice::RunPaused { stage: run.current_position(), reason, detail }));
    out.push(Effect::Leave);
}

/// Takes the run out of its pause.
pub(super) fn go_on(run: &mut Run, at: DateTime<Utc>) {
    run.phase = Phase::Running;
    run.pausing = false;
    run.active_since = Some(at);
}

/// Ends the run: what listeners are told.
pub(super) fn finish(run: &Run, state: &'static str, out: &mut Vec<Effect>) {
    out.push(Effect::Tell(Notice::RunFinished { state, summary: super::snapshot::summary(run) }));
    out.push(Effect::Leave);
}

/// Counts the time that was spent running.
pub(super) fn settle(run: &mut Run, at: DateTime<Utc>) {
    if let Some(since) = run.active_since.take() {
        run.active_ms += (at - since).num_milliseconds().max(0);
    }
}

/// Ends the agent that works, if one does; its stage is launched again, in its session, when the run goes on.
fn stop(run: &mut Run, at: DateTime<Utc>, out: &mut Vec<Effect>) {
    let Some(stage) = run.current() else { return };
    if let Step::Working { launch, since } = run.stages[stage].step {
        run.stages[stage].step = Step::Ready { resume: true };
        match &mut run.stages[stage].stopped {
            // What it asked is still open.
            Some(Stop::Held { cut_off, .. }) => *cut_off = true,
            stopped => *stopped = Some(Stop::CutOff),
        }
        run.stages[stage].worked_ms += (at - since).num_milliseconds().max(0);
        out.push(Effect::StopAgent { launch });
    }
}

/// The stage that a launch is for, while that launch is the stage's newest. It is nearly always the current one.
fn launched(run: &Run, launch: u32) -> Option<usize> {
    let of = |&stage: &usize| run.stages[stage].launch == Some(launch);
    run.current().filter(of).or_else(|| (0..run.stages.len()).find(of))
}

//! The state transitions of a run: `step(&mut Run, &Record) -> Result<Vec<Effect>, Refusal>`.
//!
//! A step checks before it changes anything, so that a refused event leaves the run unchanged. No clock or file is read
//! here: replaying a journal gives the same run.

use super::effect::{Effect, Notice};
use super::event::{Event, Record};
use super::how;
use super::log::place;
pub use super::refusal::Refusal;
use super::shown::{Baseline, Shown};
use super::state::{Done, FactRecord, Launch, Phase, Reason, Run, StageState, Step, Stop};
use super::walk::{advance, begin, done, finish, launch, open_gate, pause, settle, skip, unpause};
use super::{attempt, gate, trust, verbs};
use crate::plan::Plan;
use chrono::{DateTime, Utc};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Starts a run from its first record.
///
/// # Panics
/// If the record is not `RunStarted`. The journal's reader has checked that.
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
        last_started: 0,
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
        state.visit = state.visit.next(record.at);
        state.pinned = true;
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
    out.push(Effect::Notify(Notice::RunStarted));
    advance(&mut run, record.at, &mut out);
    (run, out)
}

/// Applies one event. `RunStarted` is handled by [`start`], `DeclarationReplaced` by [`super::replace`].
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
            run.last_started = run.last_started.max(*launch);
            let (harness, process) = (Some(harness.clone()), process.clone());
            run.stages[stage].launch = Some(Launch { number: *launch, harness, process });
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
            let delayed =
                run.stages.get(*stage).is_some_and(|state| matches!(state.step, Step::Delayed { .. }));
            if run.phase != Phase::Running || !delayed {
                return Err(Refusal::Stale);
            }
            launch(run, *stage, true, at, &mut out);
        }
        Event::BaselineTaken { tree, decisions } => {
            run.baseline = Some(Baseline { tree: tree.clone(), decisions: *decisions });
        }
        Event::ReviewShown { stage, visit, from, tree, digest, note, held, printed } => {
            if run.open_gate() != Some((*stage, *visit)) {
                return Err(Refusal::Stale);
            }
            let (from, tree, digest, note) = (from.clone(), tree.clone(), digest.clone(), note.clone());
            let shown = Shown { from, tree, digest, note, held: *held, printed: *printed };
            run.shown.entry((*stage, *visit)).or_default().push(shown);
        }
        Event::GateDecided { .. } => gate::decided(run, record, &mut out)?,
        Event::GateReopened { stage } => gate::reopen(run, *stage, at, &mut out)?,
        Event::PauseRequested { .. } => {
            if run.phase != Phase::Running {
                return Err(verbs::not_now(run, "pause"));
            }
            run.pausing = true;
            // No agent is working, so the run can pause now.
            let idle = |stage: usize| matches!(run.stages[stage].step, Step::Delayed { .. } | Step::Deciding);
            if run.current().is_some_and(idle) {
                pause(run, Reason::User, String::new(), at, &mut out);
            }
        }
        Event::Interrupted { why } | Event::EditorNeeded { why } => {
            if run.phase != Phase::Running {
                return Err(verbs::not_now(run, "interrupt"));
            }
            stop(run, at);
            let needed = matches!(record.event, Event::EditorNeeded { .. });
            let reason = if needed { Reason::NeedsHuman } else { Reason::Interrupted };
            pause(run, reason, why.clone(), at, &mut out);
        }
        Event::Cancelled { by, how } => {
            stop(run, at);
            settle(run, at);
            run.phase = Phase::Cancelled { by: how::by(by, how.as_ref()) };
            out.push(Effect::Log(how::line(format!("CANCELLED  {}", run.plan.name()), how.as_ref())));
            finish(run, "cancelled", &mut out);
        }
        Event::TrustLapsed { launch, resume, files } => {
            trust::lapsed(run, *launch, *resume, files, at, &mut out)?;
        }
        Event::TrustGranted { files, .. } => trust::granted(files, &mut out),
        Event::AdoptionConfirmed { .. } => run.unconfirmed = None,
        Event::Resumed { how, .. } => verbs::resume(run, "resume", "", how.as_ref(), at, &mut out)?,
        Event::Retried { comment, how, .. } => {
            verbs::resume(run, "retry", comment, how.as_ref(), at, &mut out)?;
        }
        Event::Skipped { how, .. } => {
            let stage = verbs::skippable(run)?;
            if run.phase == Phase::Running {
                stop(run, at);
            } else {
                unpause(run, at);
            }
            let line = format!("SKIP  stage {}: {}  (manual)", place(run, stage), run.label(stage));
            out.push(Effect::Log(how::line(line, how.as_ref())));
            run.stages[stage].comments.clear();
            run.stages[stage].result = None;
            run.stages[stage].visit.skipped_manually = true;
            if run.plan.has_human_gate(stage) {
                open_gate(run, stage, at, &mut out);
            } else {
                done(run, stage, Done::SkippedManually, at, &mut out);
                advance(run, at, &mut out);
            }
        }
    }
    run.updated_at = at;
    Ok(out)
}

/// Stops the working agent, if there is one. Its stage is launched again, in the same session, when the run continues.
fn stop(run: &mut Run, at: DateTime<Utc>) {
    let Some(stage) = run.current() else { return };
    let state = &mut run.stages[stage];
    if let Step::Working { since, .. } = state.step {
        state.step = Step::Ready { resume: true };
        match &mut state.visit.stopped {
            // The agent's question is still open.
            Some(Stop::Held { cut_off, .. }) => *cut_off = true,
            stopped => *stopped = Some(Stop::CutOff),
        }
        state.visit.worked(since, at);
    }
}

/// The stage of a launch, if it is the stage's newest launch. Usually this is the current stage.
fn launched(run: &Run, launch: u32) -> Option<usize> {
    let newest = |stage: usize| run.stages[stage].launch.as_ref().map(|launch| launch.number);
    let of = |&stage: &usize| newest(stage) == Some(launch);
    run.current().filter(of).or_else(|| (0..run.stages.len()).find(of))
}

//! Moves a run from stage to stage, into a gate, a pause or its end. [`super::machine`] and the modules for its events
//! are built from these steps, which know nothing of events.

use super::effect::{Effect, Notice};
use super::log::{self, place};
use super::state::{Done, Launch, Phase, Reason, Run, Step, gate_id};
use crate::plan::Actor;
use chrono::{DateTime, Utc};

/// Advances from the cursor until the driver has to do something.
pub(super) fn advance(run: &mut Run, at: DateTime<Utc>, out: &mut Vec<Effect>) {
    while let Some(stage) = run.current() {
        match run.stages[stage].step {
            Step::Done(_) => run.cursor += 1,
            Step::Waiting => {
                if run.pausing {
                    return pause(run, Reason::User, String::new(), at, out);
                }
                let state = &mut run.stages[stage];
                state.visit = state.visit.next(at);
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

/// Runs the stage: dispatches its action, opens its gate, or marks it done if it has neither. The caller, [`advance`],
/// continues from there in a loop, because a rework may pass 10,000 such stages.
pub(super) fn begin(run: &mut Run, stage: usize, at: DateTime<Utc>, out: &mut Vec<Effect>) {
    let label = run.label(stage);
    out.push(Effect::Log(format!("STAGE {}: {label}", place(run, stage))));
    out.push(Effect::Notify(Notice::StageStarted {
        stage: stage + 1,
        visit: run.stages[stage].visit.number,
        label,
    }));
    if run.plan.has_action(stage) {
        let comment = run.rework_comment.take();
        let resume = comment.is_some();
        run.stages[stage].comments.extend(comment);
        launch(run, stage, resume, at, out);
    } else if run.plan.has_human_gate(stage) {
        open_gate(run, stage, at, out);
    } else {
        done(run, stage, Done::Passed, at, out);
    }
}

/// Launches an agent for the stage, either fresh or to continue the work of an earlier launch.
pub(super) fn launch(run: &mut Run, stage: usize, resume: bool, at: DateTime<Utc>, out: &mut Vec<Effect>) {
    run.launches += 1;
    let state = &mut run.stages[stage];
    state.step = Step::Working { launch: run.launches, since: at };
    state.launch = Some(Launch { number: run.launches, harness: None, process: None });
    state.visit.launches += 1;
    let session = state.session.clone().filter(|_| resume);
    let actor = run.plan.actor(stage);
    let kind = if actor == Actor::Pipeline { "agent" } else { actor.kind() };
    out.push(Effect::Log(format!("DISPATCH  {kind}={}", actor.name())));
    out.push(Effect::StartAgent { stage, launch: run.launches, resume, session });
}

/// Skips the stage, because its condition is false.
pub(super) fn skip(run: &mut Run, stage: usize, why: &str, at: DateTime<Utc>, out: &mut Vec<Effect>) {
    let label = run.label(stage);
    out.push(Effect::Log(format!("SKIP   stage {}: {label}  (when={why})", place(run, stage))));
    done(run, stage, Done::Skipped { why: why.to_owned() }, at, out);
}

/// Marks a stage as done and notifies listeners.
pub(super) fn done(run: &mut Run, stage: usize, how: Done, at: DateTime<Utc>, out: &mut Vec<Effect>) {
    let (outcome, note) = match &how {
        Done::Passed | Done::Adopted => ("passed", String::new()),
        Done::Approved => ("approved", String::new()),
        Done::Skipped { why } => ("skipped", why.clone()),
        Done::SkippedManually => ("skipped", "manual".to_owned()),
    };
    let label = run.label(stage);
    let state = &mut run.stages[stage];
    state.step = Step::Done(how);
    state.visit.done_at = Some(at);
    state.pinned = false;
    out.push(Effect::Notify(Notice::StageFinished { stage: stage + 1, label, outcome, note }));
}

pub(super) fn pause(run: &mut Run, reason: Reason, detail: String, at: DateTime<Utc>, out: &mut Vec<Effect>) {
    settle(run, at);
    run.pausing = false;
    run.phase = Phase::Paused { reason, detail: detail.clone() };
    out.push(Effect::Log(log::paused(run, reason)));
    out.push(Effect::Notify(Notice::RunPaused { stage: run.current_position(), reason, detail }));
    out.push(Effect::Leave);
}

/// Ends the pause.
pub(super) fn unpause(run: &mut Run, at: DateTime<Utc>) {
    run.phase = Phase::Running;
    run.pausing = false;
    run.active_since = Some(at);
}

/// Ends the run and notifies listeners.
pub(super) fn finish(run: &Run, state: &'static str, out: &mut Vec<Effect>) {
    out.push(Effect::Notify(Notice::RunFinished { state, summary: super::snapshot::summary(run) }));
    out.push(Effect::Leave);
}

/// Adds the current period of running to the total.
pub(super) fn settle(run: &mut Run, at: DateTime<Utc>) {
    if let Some(since) = run.active_since.take() {
        run.active_ms += (at - since).num_milliseconds().max(0);
    }
}

/// Opens the stage's gate and pauses the run there.
pub(super) fn open_gate(run: &mut Run, stage: usize, at: DateTime<Utc>, out: &mut Vec<Effect>) {
    run.stages[stage].step = Step::AtGate;
    let (label, visit) = (run.label(stage), run.stages[stage].visit.number);
    out.push(gate_log_line(run, stage, &label));
    out.push(Effect::OpenGate { stage, visit });
    out.push(Effect::Notify(Notice::GateOpened { stage: stage + 1, gate: gate_id(stage, visit), label }));
    pause(run, Reason::Gate, String::new(), at, out);
}

/// The log line for a gate that opens.
pub(super) fn gate_log_line(run: &Run, stage: usize, label: &str) -> Effect {
    let note =
        if run.stages[stage].visit.skipped_manually { "  (its action was skipped manually)" } else { "" };
    Effect::Log(format!("GATE   Human approval required: {label}{note}"))
}

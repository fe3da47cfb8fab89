//! How a run moves: from stage to stage, into a gate, a pause or its end. The steps of which [`super::machine`] and the
//! families of events beside it are made; none of them looks at an event.

use super::effect::{Effect, Notice};
use super::log::{self, place};
use super::state::{Done, Launch, Phase, Reason, Run, Step, gate_id};
use crate::plan::Actor;
use chrono::{DateTime, Utc};

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

/// The stage's verdict is "run": dispatches its action, or opens its gate. What needs neither is done; to walk on from
/// there is [`advance`]'s, which calls this in a loop: a rework may pass by 10,000 such stages.
pub(super) fn begin(run: &mut Run, stage: usize, at: DateTime<Utc>, out: &mut Vec<Effect>) {
    let label = run.label(stage);
    out.push(Effect::Log(format!("STAGE {}: {label}", place(run, stage))));
    out.push(Effect::Tell(Notice::StageStarted {
        stage: stage + 1,
        visit: run.stages[stage].visit.number,
        label,
    }));
    if run.plan.acts(stage) {
        let comment = run.rework_comment.take();
        let resume = comment.is_some();
        run.stages[stage].comments.extend(comment);
        launch(run, stage, resume, at, out);
    } else if run.plan.asks(stage) {
        open_gate(run, stage, at, out);
    } else {
        done(run, stage, Done::Passed, at, out);
    }
}

/// Starts an agent for the stage: anew, or to go on with what an earlier launch has begun.
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

/// The verdict is "skip".
pub(super) fn skip(run: &mut Run, stage: usize, why: &str, at: DateTime<Utc>, out: &mut Vec<Effect>) {
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
    state.visit.done_at = Some(at);
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

/// Opens the stage's gate and pauses the run there.
pub(super) fn open_gate(run: &mut Run, stage: usize, at: DateTime<Utc>, out: &mut Vec<Effect>) {
    run.stages[stage].step = Step::AtGate;
    let (label, visit) = (run.label(stage), run.stages[stage].visit.number);
    out.push(asks(run, stage, &label));
    out.push(Effect::OpenGate { stage, visit });
    out.push(Effect::Tell(Notice::GateOpened { stage: stage + 1, gate: gate_id(stage, visit), label }));
    pause(run, Reason::Gate, String::new(), at, out);
}

/// The line that says that a gate asks.
pub(super) fn asks(run: &Run, stage: usize, label: &str) -> Effect {
    let note = if run.stages[stage].visit.by_hand { "  (its action was skipped by hand)" } else { "" };
    Effect::Log(format!("GATE   Human approval required: {label}{note}"))
}

//! The verbs that end a pause: what each does, by the reason of the pause.

use super::effect::Effect;
use super::gate;
use super::how::{self, How};
use super::log;
use super::refusal::Refusal;
use super::state::{Phase, Reason, Run, Step, Stop};
use super::walk::{advance, launch, unpause};
use chrono::{DateTime, Utc};

/// `resume` and `retry`.
pub(super) fn resume(
    run: &mut Run,
    verb: &'static str,
    comment: &str,
    how: Option<&How>,
    at: DateTime<Utc>,
    out: &mut Vec<Effect>,
) -> Result<(), Refusal> {
    let Phase::Paused { reason, .. } = run.phase.clone() else { return Err(not_now(run, verb)) };
    let resumed = |run: &Run| {
        let place = format!("stage {}/{}", run.current_position(), run.plan.total());
        how::line(format!("RESUMED  {}  {place}", run.plan.name()), how)
    };
    match reason {
        Reason::Gate if verb == "resume" => {
            let Some((stage, visit)) = run.open_gate() else { return Err(Refusal::NoGate) };
            out.push(Effect::Log(resumed(run)));
            gate::announce(run, stage, visit, out);
            out.push(Effect::Leave);
        }
        Reason::Interrupted | Reason::User | Reason::Trust | Reason::NeedsHuman
            if verb == "resume" && (reason != Reason::NeedsHuman || run.held().is_none()) =>
        {
            unpause(run, at);
            out.push(Effect::Log(resumed(run)));
            let Some(stage) = run.current() else {
                return {
                    advance(run, at, out);
                    Ok(())
                };
            };
            match run.stages[stage].step.clone() {
                Step::Ready { resume } => launch(run, stage, resume, at, out),
                Step::Deciding => out.push(Effect::Decide { stage }),
                // The driver waits until the time in the state.
                Step::Delayed { .. } => {}
                _ => advance(run, at, out),
            }
        }
        Reason::Failed | Reason::Blocked | Reason::Auth | Reason::NeedsHuman => {
            let stage = held(run, verb)?;
            unpause(run, at);
            out.push(Effect::Log(resumed(run)));
            let state = &mut run.stages[stage];
            if reason == Reason::Failed {
                state.visit.spent = 0;
            }
            if !comment.trim().is_empty() {
                // A fresh agent does not know the question, so the answer repeats it.
                let asked = match &state.step {
                    Step::Held { why } if reason == Reason::NeedsHuman => format!("You asked: {why}\n\n"),
                    _ => String::new(),
                };
                state.comments.push(format!("{asked}{comment}"));
                if let Some(Stop::Held { answered, .. }) = &mut state.visit.stopped {
                    *answered = true;
                }
            }
            let in_session = reason != Reason::Failed || !comment.trim().is_empty();
            launch(run, stage, in_session, at, out);
        }
        _ => return Err(not_now(run, verb)),
    }
    Ok(())
}

/// The stage whose attempt paused the run.
pub(super) fn held(run: &Run, verb: &'static str) -> Result<usize, Refusal> {
    run.held().filter(|_| matches!(run.phase, Phase::Paused { .. })).ok_or_else(|| not_now(run, verb))
}

/// The stage whose action can be skipped: the one that paused the run, or a manual stage that is active.
pub(super) fn skippable(run: &Run) -> Result<usize, Refusal> {
    let manual = |stage: &usize| run.phase == Phase::Running && run.stages[*stage].is_manual();
    run.current().filter(manual).map_or_else(|| held(run, "skip"), Ok)
}

pub(super) fn not_now(run: &Run, verb: &'static str) -> Refusal {
    Refusal::NotNow { verb, state: run.phase.words() }
}

/// How a finished run ended, and how to start it again.
pub(super) fn ended(run: &Run) -> String {
    let name = run.plan.name();
    match &run.phase {
        Phase::Cancelled { by } => {
            format!("{name} was cancelled by {by}; start it again with :Superpower run {name}")
        }
        Phase::Rejected { by, comment, at } => {
            let line = format!("{name} was rejected by {by} at {}", at.format("%Y-%m-%d %H:%M UTC"));
            log::with_comment(line, comment)
        }
        _ => format!("{name} is complete; start it again with :Superpower run {name}"),
    }
}

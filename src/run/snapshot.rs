//! The snapshot of a run: the JSON that windows, the status line and `sp.status()` show.

use super::event::Decision;
use super::log::{count, duration};
use super::state::{Done, Phase, Reason, Run, StageState, Step, gate_id};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};

/// The run without what only its driver knows (who drives it, what the agent is saying).
pub fn snapshot(run: &Run, now: DateTime<Utc>) -> Value {
    let mut picture = head(run, now);
    picture["stages"] = (0..run.plan.total()).map(|at| stage(run, at, now)).collect();
    picture
}

/// The snapshot without its stages.
pub fn head(run: &Run, now: DateTime<Utc>) -> Value {
    let (reason, detail) = match &run.phase {
        Phase::Paused { reason, .. } => (Some(reason.word()), detail(run)),
        Phase::Rejected { comment, .. } => (None, comment.clone()),
        _ => (None, String::new()),
    };
    let gate = run.open_gate().map(|(stage, visit)| {
        json!({ "id": gate_id(stage, visit), "stage": stage + 1, "visit": visit, "label": run.label(stage) })
    });
    let waiting_until = run.current().and_then(|stage| match run.stages[stage].step {
        Step::Delayed { until, .. } => Some(until.timestamp_millis()),
        _ => None,
    });
    let facts: Vec<Value> = run
        .facts
        .iter()
        .map(|(name, fact)| {
            json!({ "name": name, "value": fact.value, "reason": fact.reason, "stage": fact.stage + 1 })
        })
        .collect();
    let active = run.active_ms + run.active_since.map_or(0, |since| (now - since).num_milliseconds().max(0));
    json!({
        "run_id": run.run_id,
        "superpower": run.plan.name(),
        "version": run.plan.declaration.version.value,
        "state": run.phase.word(),
        "reason": reason,
        "detail": Some(detail).filter(|detail| !detail.is_empty()),
        "current_stage": run.current_position(),
        "total": run.plan.total(),
        "started_at": run.started_at.timestamp_millis(),
        "updated_at": run.updated_at.timestamp_millis(),
        "ended_at": run.phase.ended().then(|| run.updated_at.timestamp_millis()),
        "active_ms": active,
        "gate": gate,
        "waiting_until": waiting_until,
        "pausing": run.pausing,
        "summary": summary(run),
        "usage": run.usage(),
        "facts": facts,
    })
}

/// Why the run is paused, for people.
fn detail(run: &Run) -> String {
    let Phase::Paused { reason, detail } = &run.phase else { return String::new() };
    let failure = run.current().filter(|_| *reason == Reason::Failed).and_then(|stage| run.failure(stage));
    failure.unwrap_or_else(|| detail.clone())
}

/// Ends a text with a full stop, so that another sentence can follow.
fn sentence(text: &str) -> String {
    let text = crate::plan::one_line(text);
    if text.ends_with(['.', '?', '!', '…']) { text } else { format!("{text}.") }
}

/// The summary line: how the run ended, or what it waits for and the command for it. Empty while it runs.
pub fn summary(run: &Run) -> String {
    let place = format!("{}/{}", run.current_position(), run.plan.total());
    match &run.phase {
        Phase::Running => String::new(),
        Phase::Complete => {
            let agents = (0..run.plan.total()).filter(|&stage| run.action_ran(stage)).count();
            let skipped = |state: &&StageState| {
                state.visit.skipped_manually || matches!(state.step, Step::Done(Done::Skipped { .. }))
            };
            let skipped = run.stages.iter().filter(skipped).count();
            let approvals = run.decisions.iter().filter(|it| it.decision == Decision::Approve).count();
            if run.nothing_ran() {
                return "complete · nothing ran: every stage was skipped".into();
            }
            let mut line = format!("complete in {} · {agents} ran", duration(run.active_ms));
            if skipped > 0 {
                line += &format!(", {skipped} skipped");
            }
            if approvals > 0 {
                line += &format!(", {}", count(approvals, "approval"));
            }
            line
        }
        Phase::Cancelled { by } => format!("cancelled by {by} at stage {place}"),
        Phase::Rejected { by, comment, .. } => {
            super::log::with_comment(format!("rejected by {by} at stage {place}"), comment)
        }
        Phase::Paused { reason, .. } => {
            let detail = sentence(&detail(run));
            match reason {
                Reason::Gate => format!("waits at gate {place}: :Superpower gate"),
                Reason::Interrupted => format!("interrupted at stage {place}: :Superpower resume"),
                Reason::User => format!("paused at stage {place}: :Superpower resume"),
                Reason::Trust => {
                    format!("stage {place} waits for your trust: {detail} :Superpower resume shows it")
                }
                Reason::Failed => {
                    let spent = run.current().map_or(0, |stage| run.stages[stage].visit.spent);
                    let times = if spent > 1 { format!(" {spent} times") } else { String::new() };
                    format!("stage {place} failed{times}: {detail} :Superpower retry, skip or cancel")
                }
                Reason::Blocked => {
                    format!("stage {place} is blocked: {detail} :Superpower retry, skip or cancel")
                }
                Reason::Auth => format!("stage {place}: {detail} Log in, then :Superpower resume"),
                Reason::NeedsHuman if run.held().is_none() => {
                    format!("stage {place}: {detail} Then :Superpower resume")
                }
                Reason::NeedsHuman => format!("stage {place} asks: {detail} :Superpower retry ANSWER"),
            }
        }
    }
}

pub fn stage(run: &Run, stage: usize, now: DateTime<Utc>) -> Value {
    let state = &run.stages[stage];
    let actor = run.plan.actor(stage);
    let launch = state.launch.as_ref().map(|launch| launch.number);
    let (mark, note) = mark(run, stage, state);
    let (limited_until, again_at) = match state.step {
        Step::Delayed { until, limited: true, .. } => (Some(until.timestamp_millis()), None),
        Step::Delayed { until, .. } => (None, Some(until.timestamp_millis())),
        _ => (None, None),
    };
    let since = match state.step {
        Step::Working { since, .. } => Some(since),
        // A gate without an action shows how long it has waited; the time of a stage's work stops while its gate waits.
        Step::AtGate if !run.plan.has_action(stage) => state.visit.entered_at,
        _ => None,
    };
    let waited = match (&state.step, state.visit.entered_at, state.visit.done_at) {
        (Step::Done(Done::Approved), Some(from), Some(to)) if !run.plan.has_action(stage) => {
            (to - from).num_milliseconds()
        }
        _ => 0,
    };
    json!({
        "position": stage + 1,
        "name": run.plan.stage(stage).name.as_ref().map(|name| &name.value),
        "label": run.label(stage),
        "kind": actor.kind(),
        "actor": Some(actor.name()).filter(|actor| !actor.is_empty()),
        "mark": mark,
        "note": note,
        "limited_until": limited_until,
        "again_at": again_at,
        "gate": run.plan.has_human_gate(stage),
        "visit": state.visit.number,
        "attempt": state.visit.spent + 1,
        "max_attempts": run.plan.max_attempts(stage),
        "since": since.map(|since| since.timestamp_millis()),
        "elapsed_ms": state.visit.worked_ms + waited + since.map_or(0, |since| (now - since).num_milliseconds().max(0)),
        "launch": launch,
        "output": launch.is_some(),
        "usage": state.usage,
    })
}

/// The stage's mark, and the note in the right column.
fn mark(run: &Run, stage: usize, state: &StageState) -> (&'static str, String) {
    let max = run.plan.max_attempts(stage);
    match &state.step {
        Step::Waiting => ("waiting", if run.plan.has_action(stage) { String::new() } else { "gate".into() }),
        Step::Deciding => ("waiting", "deciding".into()),
        Step::Ready { .. } => ("waiting", "interrupted".into()),
        Step::Working { .. } if state.is_manual() => ("by-hand", "manual, waits for you".into()),
        Step::Working { .. } if state.visit.spent > 0 => {
            ("running", format!("attempt {}/{max}", state.visit.spent + 1))
        }
        Step::Working { .. } => ("running", String::new()),
        // The snapshot has the time of the limit in a field of its own, because the client formats it.
        Step::Delayed { limited: true, .. } => ("limited", "limited".into()),
        Step::Delayed { why, .. } => ("limited", why.clone()),
        Step::Held { why } if run.phase.reason() == Some(Reason::Failed) => {
            ("failed", run.failure(stage).unwrap_or_else(|| why.clone()))
        }
        Step::Held { .. } if run.phase.reason() == Some(Reason::NeedsHuman) => ("held", "asks you".into()),
        Step::Held { .. } => ("held", run.phase.reason().map_or("held", Reason::word).into()),
        Step::AtGate if state.visit.skipped_manually => ("gate", "waits for you; skipped manually".into()),
        Step::AtGate => ("gate", "waits for you".into()),
        Step::Done(Done::Passed) => ("passed", String::new()),
        Step::Done(Done::Approved) if state.visit.skipped_manually => {
            ("approved", "approved; skipped manually".into())
        }
        Step::Done(Done::Approved) => ("approved", "approved".into()),
        Step::Done(Done::Skipped { why }) => ("skipped", why.clone()),
        Step::Done(Done::SkippedManually) => ("skipped", "skipped manually".into()),
        Step::Done(Done::Adopted) => ("passed", "before this run".into()),
    }
}

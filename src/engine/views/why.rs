//! Explains the state of a stage: why it was skipped, what it waits for, how it was decided.

use super::opened::opened;
use crate::driver::checkpoint_writer;
use crate::engine::core::Engine;
use crate::engine::refusal::{Refusal, StageReference};
use crate::plan::Plan;
use crate::run::event::Decision;
use crate::run::how;
use crate::run::state::{Done, Reason, Step};
use crate::runs::open::Opened;
use chrono::Utc;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Why {
    root: PathBuf,
    run_id: Option<String>,
    stage: Option<Value>,
}

/// Explains the state of a stage, line by line.
pub fn why(engine: &Engine, request: &Why) -> Result<Value, Refusal> {
    let opened = opened(engine, &request.root, request.run_id.as_deref())?;
    let run = &opened.run;
    let reference = match &request.stage {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    let stage = match reference {
        Some(reference) => {
            run.plan.find(&reference).ok_or(Refusal::UnknownStage(StageReference::Text(reference)))?
        }
        None => run.current().unwrap_or(run.plan.total() - 1),
    };
    Ok(json!({ "lines": reasons(&request.root, &opened, stage), "stage": stage + 1 }))
}

fn reasons(root: &Path, opened: &Opened, stage: usize) -> Vec<String> {
    let run = &opened.run;
    let state = &run.stages[stage];
    let plan: &Plan = &run.plan;
    let mut lines = vec![format!("stage {}/{}: {}", stage + 1, plan.total(), run.label(stage))];
    let key = checkpoint_writer::keys(plan).swap_remove(stage);
    match plan.when(stage) {
        None => lines.push("it has no condition: it always runs".into()),
        Some(when) => {
            lines.push(format!("when: {when}"));
            for name in crate::condition::facts_in(when) {
                lines.push(match run.facts.get(name) {
                    Some(fact) => format!(
                        "  {name} = {}: {}, decided at stage {}",
                        fact.value,
                        fact.reason,
                        fact.stage + 1
                    ),
                    None => format!("  {name}: not decided yet; decided when reached"),
                });
            }
        }
    }
    lines.push(match &state.step {
        // In a run that has ended nothing is active any more.
        Step::Waiting | Step::Deciding if run.phase.ended() => "the run ended before its turn came".into(),
        Step::Ready { .. } | Step::Working { .. } | Step::Delayed { .. } | Step::Held { .. }
            if run.phase.ended() =>
        {
            "the run ended before it finished".into()
        }
        Step::AtGate if run.phase.ended() => "the run ended at its gate".into(),
        Step::Waiting => "it is waiting for its turn".into(),
        Step::Deciding => "its condition is being decided".into(),
        Step::Ready { .. } => "it was interrupted and continues with the run".into(),
        Step::Working { .. } if state.is_manual() => {
            "it is a manual stage, waiting for your result: :Superpower gate".into()
        }
        Step::Working { .. } => {
            format!("it is active: attempt {}/{}", state.visit.spent + 1, plan.max_attempts(stage))
        }
        Step::Delayed { until, why, .. } => {
            format!("it is waiting until {}: {why}", crate::zone::current().clock(*until, Utc::now()))
        }
        Step::Held { .. } if run.phase.reason() == Some(Reason::Failed) => {
            "it failed, and the run is paused".into()
        }
        Step::Held { why } => format!("the run is paused at this stage: {why}"),
        Step::AtGate => "its gate is open: :Superpower gate".into(),
        Step::Done(Done::Skipped { why }) => format!("it was skipped: {why}"),
        Step::Done(Done::SkippedManually) => "its action was skipped manually".into(),
        Step::Done(Done::Approved) => "it was approved".into(),
        Step::Done(Done::Passed) => "it passed".into(),
        Step::Done(Done::Adopted) => {
            "it counts as run, because the run was taken over from another tool".into()
        }
    });
    let (place, _) = checkpoint_writer::place(root, &opened.dir, run);
    let record = crate::checkpoint::store::read(&place);
    let rows = record.map(|record| crate::checkpoint::lines(&record)).unwrap_or_default();
    let ours = |line: &&String| key.as_ref().is_some_and(|key| line.split(' ').next() == Some(key));
    lines.extend(rows.iter().filter(ours).map(|line| format!("  checkpoint {line}")));
    for same in state.visit.failures.chunk_by(|one, next| one.shown() == next.shown()) {
        let times = if same.len() > 1 { format!(" {} times", same.len()) } else { String::new() };
        lines.push(format!("  failed{times}: {}", same[0].shown()));
    }
    for decision in run.decisions.iter().filter(|decision| decision.stage == stage) {
        let word = match decision.decision {
            Decision::Approve => "approved",
            Decision::Changes => "changes requested",
            Decision::Reject => "rejected",
        };
        let line = format!(
            "  visit {}: {word} by {} at {}",
            decision.visit,
            how::by(&decision.by, decision.how.as_ref()),
            decision.at.format("%Y-%m-%d %H:%M UTC")
        );
        lines.push(crate::run::log::with_comment(line, &decision.comment));
    }
    lines
}

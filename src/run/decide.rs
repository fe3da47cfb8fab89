//! Evaluates a stage's condition against the facts that the run has recorded.

use super::state::Run;
use crate::condition::{Evaluation, eval};

/// The result of deciding a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// This fact must be decided first.
    Needs(String),
    /// Whether the stage runs, and why (empty without a condition).
    Decided {
        run: bool,
        /// For example `story.ui_true → false`.
        why: String,
    },
}

pub fn decide(run: &Run, stage: usize) -> Verdict {
    let Some(when) = run.plan.when(stage) else { return Verdict::Decided { run: true, why: String::new() } };
    let input = |name: &str| run.plan.inputs.get(name).cloned().unwrap_or_default();
    let fact = |name: &str| run.facts.get(name).map(|fact| fact.value);
    match eval(when, &input, &fact) {
        Evaluation::Needs(fact) => Verdict::Needs(fact),
        Evaluation::Known(value) => Verdict::Decided { run: value, why: format!("{when} → {value}") },
    }
}

/// Whether a gate behind this stage is sure to ask, so that what changes now is listed once more.
pub fn asks_again_after(run: &Run, stage: usize) -> bool {
    let later = &run.plan.order[run.plan.rank(stage) + 1..];
    let sure = |stage: usize| matches!(decide(run, stage), Verdict::Decided { run: true, .. });
    later.iter().any(|&later| run.plan.has_human_gate(later) && sure(later))
}

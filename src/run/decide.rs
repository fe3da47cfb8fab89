//! A stage's condition, against the facts that the run has pinned.

use super::state::Run;
use crate::condition::{Evaluation, eval};

/// What deciding a stage comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// This fact must be decided first.
    Needs(String),
    /// Whether the stage runs, and what decided it (empty where there is no condition).
    Decided {
        /// Whether it runs.
        run: bool,
        /// E.g. `story.ui_true → false`.
        why: String,
    },
}

/// Decides a stage with the facts known so far.
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
    later.iter().any(|&later| run.plan.asks(later) && sure(later))
}

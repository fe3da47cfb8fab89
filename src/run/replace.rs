//! Another declaration under a paused run.

use super::state::{Phase, Reason, Run, StageState, Step};
use crate::plan::Plan;
use chrono::{DateTime, Utc};
use std::sync::Arc;

/// Puts a new plan under a paused run: the stages up to the cursor keep their state by their place in the order of
/// execution, which [`super::drift`] has found unchanged or the user has accepted.
pub fn replace(run: &mut Run, plan: Arc<Plan>, at: DateTime<Utc>) {
    let mut stages = vec![StageState::default(); plan.total()];
    for (rank, &index) in plan.order.iter().enumerate().take(run.cursor + 1) {
        if let Some(&old) = run.plan.order.get(rank) {
            stages[index] = std::mem::take(&mut run.stages[old]);
        }
    }
    let moved =
        |stage: usize| plan.order.get(run.plan.rank(stage)).copied().unwrap_or(stage.min(plan.total() - 1));
    for fact in run.facts.values_mut() {
        fact.stage = moved(fact.stage);
    }
    for decision in &mut run.decisions {
        decision.stage = moved(decision.stage);
    }
    run.cursor = run.cursor.min(plan.total());
    run.stages = stages;
    run.plan = plan;
    run.updated_at = at;
    // A stage of another kind may stand at the cursor now: what cannot be there begins anew.
    if let Some(stage) = run.current() {
        let fits = match run.stages[stage].step {
            Step::AtGate => run.plan.asks(stage),
            Step::Ready { .. } | Step::Working { .. } | Step::Resting { .. } | Step::Held { .. } => {
                run.plan.acts(stage)
            }
            _ => true,
        };
        if !fits {
            run.stages[stage] = StageState::default();
            run.phase = Phase::Paused { reason: Reason::User, detail: "the declaration was changed".into() };
        }
    }
}

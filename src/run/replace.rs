//! Another declaration under a paused run.

use super::drift::essence;
use super::state::{Phase, Reason, Run, StageState, Step};
use crate::declaration::model::Stage;
use crate::plan::Plan;
use chrono::{DateTime, Utc};
use std::collections::HashMap;
use std::sync::Arc;

/// Puts a new plan under a paused run. The stages up to the cursor keep their state by their place in the order of
/// execution, which [`super::drift`] has found unchanged or the user has accepted. Those ahead may have been visited
/// before a rework: they keep theirs where they are the same stage still.
pub fn replace(run: &mut Run, plan: Arc<Plan>, at: DateTime<Utc>) {
    let origins = origins(run, &plan);
    let mut stages = Vec::with_capacity(plan.total());
    for (index, origin) in origins.iter().enumerate() {
        // A gate is named by its place and its visit, and is decided once: no place begins its count again.
        let counted = run.stages.get(index).map_or(0, |there| there.visit);
        let mut state = origin.map_or_else(StageState::default, |old| run.stages[old].clone());
        if plan.rank(index) > run.cursor {
            state.visit = state.visit.max(counted);
            state.pinned &= origin.is_some_and(|old| when(run.plan.stage(old)) == when(plan.stage(index)));
        }
        stages.push(state);
    }
    let mut moves: HashMap<usize, usize> =
        origins.iter().enumerate().filter_map(|(index, origin)| Some(((*origin)?, index))).collect();
    for fact in run.facts.values_mut() {
        fact.stage = *moves.entry(fact.stage).or_insert(fact.stage.min(plan.total() - 1));
    }
    for decision in &mut run.decisions {
        decision.stage = *moves.entry(decision.stage).or_insert(decision.stage.min(plan.total() - 1));
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
            run.stages[stage] = StageState { visit: run.stages[stage].visit, ..StageState::default() };
            run.phase = Phase::Paused { reason: Reason::User, detail: "the declaration was changed".into() };
        }
    }
}

/// For each stage of the new plan, the stage of the old one that it was.
fn origins(run: &Run, plan: &Plan) -> Vec<Option<usize>> {
    let ahead = |all: &Plan| all.order.get(run.cursor + 1..).unwrap_or_default().to_vec();
    let mut left: HashMap<String, Vec<usize>> = HashMap::new();
    for old in ahead(&run.plan).into_iter().rev() {
        left.entry(key(run.plan.stage(old))).or_default().push(old);
    }
    let mut origins = vec![None; plan.total()];
    for (rank, &index) in plan.order.iter().enumerate().take(run.cursor + 1) {
        origins[index] = run.plan.order.get(rank).copied();
    }
    for index in ahead(plan) {
        let old = left.get_mut(&key(plan.stage(index))).and_then(Vec::pop);
        // What was an action and is a gate now, or the reverse, is another stage under the old name.
        origins[index] = old
            .filter(|&old| run.plan.acts(old) == plan.acts(index) && run.plan.asks(old) == plan.asks(index));
    }
    origins
}

/// What a stage is known by: its name, else all that a run can see of it.
fn key(stage: &Stage) -> String {
    stage.name.as_ref().map_or_else(|| essence(stage), |name| name.value.clone())
}

fn when(stage: &Stage) -> Option<String> {
    stage.when.as_ref().map(|when| when.value.to_string())
}

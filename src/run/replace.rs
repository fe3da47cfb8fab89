//! Replaces the declaration of a paused run.

use super::drift::essence;
use super::state::{Phase, Reason, Run, StageState, Step};
use crate::declaration::model::Stage;
use crate::plan::Plan;
use chrono::{DateTime, Utc};
use std::collections::HashMap;
use std::sync::Arc;

/// Replaces the plan of a paused run. A stage that is in both plans keeps its state, even at another position. The run
/// continues at the first stage that is not done; it resumes work in progress only if that is the same stage.
pub fn replace(run: &mut Run, plan: Arc<Plan>, at: DateTime<Utc>) {
    let origins = origins(run, &plan);
    let current = run.current();
    let mut stages = Vec::with_capacity(plan.total());
    for (index, origin) in origins.iter().enumerate() {
        // A gate id is a position and a visit number, and is decided once: the numbers at a position never start again.
        let counted = run.stages.get(index).map_or(0, |there| there.visit.number);
        let mut state = origin.map_or_else(StageState::default, |old| run.stages[old].clone());
        if *origin != Some(index) {
            state.visit.number = state.visit.number.max(counted);
        }
        if *origin != current {
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
    let done = |index: &usize| matches!(stages[*index].step, Step::Done(_));
    run.cursor = plan.order.iter().position(|index| !done(index)).unwrap_or(plan.total());
    run.stages = stages;
    run.plan = plan;
    run.updated_at = at;
    let same_stage = run.current().filter(|&stage| current.is_some() && origins[stage] == current);
    if same_stage.is_none() {
        // The run was at another stage: that one starts again when it is reached, and a gate asks again.
        for state in &mut run.stages {
            if !matches!(state.step, Step::Done(_) | Step::Waiting) {
                state.step = Step::Waiting;
            }
        }
        run.phase = Phase::Paused { reason: Reason::User, detail: "the declaration was changed".into() };
    }
}

/// For each stage of the new plan, its stage in the old one: the one of the same name; else the one that is equal in
/// every visible part; else the one at the same position and of the same kind, if no other stage claims it.
fn origins(run: &Run, plan: &Plan) -> Vec<Option<usize>> {
    let mut left: HashMap<String, Vec<usize>> = HashMap::new();
    for &old in run.plan.order.iter().rev() {
        left.entry(key(run.plan.stage(old))).or_default().push(old);
    }
    // An action that became a gate, or the reverse, is another stage even under the same name.
    let alike = |old: usize, index: usize| {
        run.plan.has_action(old) == plan.has_action(index)
            && run.plan.has_human_gate(old) == plan.has_human_gate(index)
    };
    let mut origins: Vec<Option<usize>> = vec![None; plan.total()];
    for &index in &plan.order {
        let old = left.get_mut(&key(plan.stage(index))).and_then(Vec::pop);
        origins[index] = old.filter(|&old| alike(old, index));
    }
    for (rank, &index) in plan.order.iter().enumerate() {
        let Some(&old) = run.plan.order.get(rank).filter(|_| origins[index].is_none()) else { continue };
        let unnamed = run.plan.stage(old).name.is_none() && plan.stage(index).name.is_none();
        let free = !origins.contains(&Some(old));
        if unnamed && free && alike(old, index) {
            origins[index] = Some(old);
        }
    }
    origins
}

/// The identity of a stage: its name, else all its visible parts.
fn key(stage: &Stage) -> String {
    stage.name.as_ref().map_or_else(|| essence(stage), |name| name.value.clone())
}

fn when(stage: &Stage) -> Option<String> {
    stage.when.as_ref().map(|when| when.value.to_string())
}

//! Compares the declaration of a paused run with an edited version of it.

use crate::declaration::model::Stage;
use crate::plan::Plan;

/// What an edited declaration means for a paused run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drift {
    /// No visible difference.
    None,
    /// The stages up to the current one are unchanged and no later gate was removed: the run can continue with it.
    Harmless,
    /// These differences need a decision: continue with the old one, with the new one, or cancel.
    Differs(Vec<String>),
}

/// Compares two plans for a run at `cursor` (a rank of the old plan).
pub fn compare(old: &Plan, new: &Plan, cursor: usize) -> Drift {
    let stages =
        |plan: &Plan| -> Vec<String> { plan.order.iter().map(|&index| essence(plan.stage(index))).collect() };
    let (before, after) = (stages(old), stages(new));
    if before == after {
        return Drift::None;
    }
    let mut differences = Vec::new();
    let label = |plan: &Plan, rank: usize| {
        plan.order
            .get(rank)
            .map(|&index| format!("{} ({})", index + 1, plan.label(index, &|_| String::new())))
    };
    for rank in 0..=cursor.min(before.len().saturating_sub(1)) {
        if before.get(rank) != after.get(rank) {
            differences.push(match (label(old, rank), label(new, rank)) {
                (Some(old), Some(new)) if old == new => format!("stage {old} was changed"),
                (Some(old), Some(new)) => format!("stage {old} is now stage {new}"),
                (Some(old), None) => format!("stage {old} is gone"),
                (None, _) => continue,
            });
        }
    }
    let mut gates: Vec<Ahead> = gates_from(new, cursor);
    for gate in gates_from(old, cursor) {
        let same = |other: &Ahead| other.called == gate.called;
        let alike = |other: &Ahead| same(other) && other.when == gate.when;
        let kept = gates.iter().position(alike).or_else(|| gates.iter().position(same));
        let Some(kept) = kept.map(|at| gates.remove(at)) else {
            differences.push(format!("the gate \"{}\" is gone", gate.called));
            continue;
        };
        // A gate that asks in fewer cases counts as removed in the other cases.
        if let Some(when) = kept.when.as_ref().filter(|when| Some(*when) != gate.when.as_ref()) {
            differences.push(format!("the gate \"{}\" asks only when {when}", gate.called));
        }
        // So does a gate that asks only after work that used to wait for it.
        for stage in unguarded(old, new, cursor, gate.rank, kept.rank) {
            differences.push(format!(
                "stage {} ({}) no longer waits for the gate \"{}\"",
                stage + 1,
                new.label(stage, &|_| String::new()),
                gate.called
            ));
        }
    }
    if differences.is_empty() { Drift::Harmless } else { Drift::Differs(differences) }
}

/// The visible parts of a stage, without their positions in the text.
pub(super) fn essence(stage: &Stage) -> String {
    let when = stage.when.as_ref().map(|when| when.value.to_string());
    let inputs: Vec<_> = stage.inputs.iter().map(|(name, value)| (&name.value, &value.value)).collect();
    let texts = |all: &[crate::declaration::model::Spanned<String>]| -> Vec<String> {
        all.iter().map(|text| text.value.clone()).collect()
    };
    let expects = stage.expects.as_ref().map(|expects| {
        (texts(&expects.files), expects.verdict.as_ref().map(|verdict| verdict.value.clone()))
    });
    format!(
        "{:?} {:?} {:?} {when:?} {inputs:?} {:?} {:?} {:?} {:?} {:?} {:?} {expects:?}",
        stage.name.as_ref().map(|name| &name.value),
        stage.action.as_ref().map(|action| &action.value),
        stage.description.as_ref().map(|description| &description.value),
        texts(&stage.depends_on),
        stage.gate.as_ref().map(|gate| gate.value),
        stage.rework.as_ref().map(|rework| &rework.value),
        stage.harness.as_ref().map(|harness| &harness.value),
        stage.timeout.as_ref().map(|timeout| timeout.value),
        stage.max_attempts.as_ref().map(|max| max.value),
    )
}

/// Stages of the new plan that came after a gate in the old plan and come before it now. A stage is recognized by its
/// name or its action, so that other edits cannot hide the move.
fn unguarded(old: &Plan, new: &Plan, cursor: usize, gate: usize, now: usize) -> Vec<usize> {
    let acting = |plan: &Plan, ranks: std::ops::Range<usize>| -> Vec<usize> {
        let ranks = ranks.start.min(plan.total())..ranks.end.min(plan.total());
        plan.order[ranks].iter().copied().filter(|&index| plan.has_action(index)).collect()
    };
    // A gate's own action runs before the gate.
    let before = (acting(old, cursor..gate + 1), acting(new, cursor..now + 1));
    let behind = (acting(old, gate + 1..old.total()), acting(new, now + 1..new.total()));
    let moved = |known: &dyn Fn(&Stage) -> Option<String>, stage: usize| {
        let Some(key) = known(new.stage(stage)) else { return false };
        let count = |plan: &Plan, stages: &[usize]| {
            stages.iter().filter(|&&index| known(plan.stage(index)).as_ref() == Some(&key)).count()
        };
        count(new, &before.1) > count(old, &before.0) && count(new, &behind.1) < count(old, &behind.0)
    };
    let name = |stage: &Stage| stage.name.as_ref().map(|name| name.value.clone());
    let action = |stage: &Stage| stage.action.as_ref().map(|action| format!("{:?}", action.value));
    before.1.iter().copied().filter(|&stage| moved(&name, stage) || moved(&action, stage)).collect()
}

/// A gate that has not been reached.
struct Ahead {
    /// Position in the order of execution.
    rank: usize,
    /// The gate's name, else its label.
    called: String,
    when: Option<String>,
}

fn gates_from(plan: &Plan, rank: usize) -> Vec<Ahead> {
    plan.order
        .iter()
        .enumerate()
        .skip(rank)
        .map(|(rank, &index)| (rank, index, plan.stage(index)))
        .filter(|(_, index, _)| plan.has_human_gate(*index))
        .map(|(rank, index, stage)| Ahead {
            rank,
            called: match &stage.name {
                Some(name) => name.value.clone(),
                None => plan.label(index, &|_| String::new()),
            },
            when: stage.when.as_ref().map(|when| when.value.to_string()),
        })
        .collect()
}

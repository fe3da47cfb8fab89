//! A declaration that was edited while its run is paused (SPEC section 5, last paragraph).

use crate::declaration::model::{Gate, Stage};
use crate::plan::Plan;

/// What an edited declaration means for a paused run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drift {
    /// Nothing that a run can see.
    None,
    /// The stages up to the current one are unchanged and no gate ahead was removed: go on with the new one.
    Harmless,
    /// These differences need a choice: old, new, or cancel.
    Differs(Vec<String>),
}

/// Compares two plans for a run that stands at `cursor` (a rank) of the old one.
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
        let kept = gates.iter().position(|other| *other == gate).or_else(|| gates.iter().position(same));
        match kept.map(|at| gates.remove(at)) {
            None => differences.push(format!("the gate \"{}\" is gone", gate.called)),
            // A gate that asks in fewer cases is, in the others, a gate that was removed.
            Some(Ahead { when: Some(when), called }) if Some(&when) != gate.when.as_ref() => {
                differences.push(format!("the gate \"{called}\" asks only when {when}"));
            }
            Some(_) => {}
        }
    }
    if differences.is_empty() { Drift::Harmless } else { Drift::Differs(differences) }
}

/// Everything about a stage that a run can see, without places in the text.
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

/// A gate that is still to come.
#[derive(PartialEq)]
struct Ahead {
    /// Its name, else its label.
    called: String,
    /// Its condition.
    when: Option<String>,
}

/// Gates at or after a rank.
fn gates_from(plan: &Plan, rank: usize) -> Vec<Ahead> {
    plan.order
        .iter()
        .skip(rank)
        .map(|&index| (index, plan.stage(index)))
        .filter(|(_, stage)| matches!(stage.gate.as_ref().map(|gate| gate.value), Some(Gate::HumanApproval)))
        .map(|(index, stage)| Ahead {
            called: match &stage.name {
                Some(name) => name.value.clone(),
                None => plan.label(index, &|_| String::new()),
            },
            when: stage.when.as_ref().map(|when| when.value.to_string()),
        })
        .collect()
}

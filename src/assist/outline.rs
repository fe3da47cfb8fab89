//! The stages at a glance: outline, mends, and what each would do.

use super::{Action, Hint, Symbol, Verdict};
use crate::check::Checked;
use crate::declaration::draft::{ActionKey, DraftStage};
use crate::source::Span;

/// What acts in a stage, in words.
pub fn actor(stage: &DraftStage) -> String {
    match stage.actions.first() {
        Some((ActionKey::Agent, text)) => format!("agent {}", text.value),
        Some((ActionKey::Skill, text)) => format!("skill {}", text.value),
        Some((ActionKey::Pipeline, text)) => format!("pipeline {}", text.value),
        None => "gate".to_owned(),
    }
}

/// The stages, in the order of the list.
pub fn symbols(checked: &Checked) -> Vec<Symbol> {
    let stages = checked.draft.stages.iter().enumerate();
    let symbol = |(at, stage): (usize, &DraftStage)| {
        let span = checked.tree.node(stage.slot.node).span;
        let (actor, name) = (actor(stage), stage.name.as_ref());
        let label = stage.description.as_ref().or(name).map_or(actor.as_str(), |text| text.value.as_str());
        let own = name.map(|name| checked.tree.node(name.slot.node).span);
        Symbol {
            name: format!("{}. {}", at + 1, label.lines().next().unwrap_or_default()),
            gate: stage.actions.is_empty(),
            // An editor refuses a selection outside of the whole.
            selection: own
                .filter(|own| own.start >= span.start && own.end <= span.end)
                .unwrap_or(Span::new(span.start, span.start)),
            detail: actor,
            span,
        }
    };
    // A stage that comes through an alias stands elsewhere.
    stages.filter(|(_, stage)| stage.slot.alias.is_none()).map(symbol).collect()
}

/// The mends of the faults that touch `span`.
pub fn actions(checked: &Checked, span: Span) -> Vec<Action> {
    let faults = checked.diagnostics.iter().enumerate();
    faults
        .filter(|(_, fault)| fault.span.start <= span.end && span.start <= fault.span.end)
        .filter_map(|(index, fault)| {
            let fix = fault.fix.as_ref()?;
            Some(Action { title: fix.title.clone(), diagnostic: index, edits: fix.edits.clone() })
        })
        .collect()
}

/// What each stage would do, behind its first line.
pub fn hints(checked: &Checked, verdicts: &[Verdict]) -> Vec<Hint> {
    verdicts
        .iter()
        .filter_map(|verdict| {
            let stage = checked.draft.stages.get(verdict.stage).filter(|stage| stage.slot.alias.is_none())?;
            let start = checked.tree.node(stage.slot.node).span.start;
            let offset = checked.source.offset(checked.source.position(start).line, usize::MAX);
            let cr = usize::from(checked.source.text()[..offset].ends_with('\r'));
            Some(Hint { offset: offset - cr, label: verdict.label.clone(), tooltip: verdict.why.clone() })
        })
        .collect()
}

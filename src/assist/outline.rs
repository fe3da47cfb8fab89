//! The outline of the stages, the fixes at a position, and hints about what each stage would do.

use super::{Action, Hint, Symbol, Verdict};
use crate::check::Checked;
use crate::declaration::draft::{ActionKey, DraftStage};
use crate::source::Span;

/// Describes a stage's action.
pub fn actor(stage: &DraftStage) -> String {
    match stage.actions.first() {
        Some((ActionKey::Agent, text)) => format!("agent {}", text.value),
        Some((ActionKey::Skill, text)) => format!("skill {}", text.value),
        Some((ActionKey::Pipeline, text)) => format!("pipeline {}", text.value),
        None => "gate".to_owned(),
    }
}

/// The stages, in listed order.
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
            // Editors refuse a selection outside of the symbol's span.
            selection: own
                .filter(|own| own.start >= span.start && own.end <= span.end)
                .unwrap_or(Span::new(span.start, span.start)),
            detail: actor,
            span,
        }
    };
    // A stage that is used through an alias is elsewhere in the text.
    stages.filter(|(_, stage)| stage.slot.alias.is_none()).map(symbol).collect()
}

/// The fixes of the problems that touch `span`.
pub fn actions(checked: &Checked, span: Span) -> Vec<Action> {
    let problems = checked.diagnostics.iter().enumerate();
    problems
        .filter(|(_, problem)| problem.span.start <= span.end && span.start <= problem.span.end)
        .filter_map(|(index, problem)| {
            let fix = problem.fix.as_ref()?;
            Some(Action { title: fix.title.clone(), diagnostic: index, edits: fix.edits.clone() })
        })
        .collect()
}

/// A hint for each stage, after its first line.
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

//! Hover texts: the meaning of keys and names.

use super::occurrences::{self, Entity};
use super::outline::actor;
use super::{Hover, Project, Worker};
use crate::check::{Checked, ORCHESTRATOR};
use crate::condition::{Expr, FACTS, WORDS};
use crate::declaration::draft::{ActionKey, DraftInput, DraftStage, Text};
use crate::declaration::keys::{HARNESSES, Key, Level, PIPELINES, Takes};
use crate::declaration::yaml::Kind;
use crate::source::Span;

/// The hover text at `offset`.
pub fn hover(checked: &Checked, offset: usize, project: &Project) -> Option<Hover> {
    hover_of_names(checked, offset, project)
        .or_else(|| key(checked, offset))
        .or_else(|| word(checked, offset))
}

/// Hover texts for names only, which no schema knows: inputs, stages, facts, agents and skills.
pub fn hover_of_names(checked: &Checked, offset: usize, project: &Project) -> Option<Hover> {
    name(checked, offset)
        .or_else(|| fact(checked, offset, project))
        .or_else(|| worker(checked, offset, project))
}

fn name(checked: &Checked, offset: usize) -> Option<Hover> {
    let found = occurrences::at(checked, offset)?;
    let text = match &found.entity {
        Entity::Input(name) => {
            let named = |input: &&DraftInput| input.name.as_ref().is_some_and(|text| text.value == *name);
            input_text(checked.draft.inputs.iter().find(named)?)
        }
        Entity::Stage(name) => {
            let named = |stage: &DraftStage| stage.name.as_ref().is_some_and(|text| text.value == *name);
            let number = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let at = checked.draft.stages.iter().position(named).or(number)?;
            stage_text(at, checked.draft.stages.get(at)?)
        }
    };
    Some(Hover { span: found.span, text })
}

/// Describes an input.
pub fn input_text(input: &DraftInput) -> String {
    let word = |text: &Option<Text>| text.as_ref().map(|text| text.value.clone());
    let kind = word(&input.kind).unwrap_or_else(|| "string".to_owned());
    let mut text = format!("**{}** · {kind}", word(&input.name).unwrap_or_default());
    if input.required.as_ref().is_some_and(|(required, _)| *required) {
        text.push_str(" · required");
    }
    if let Some(default) = word(&input.default) {
        text.push_str(&format!(" · default `{default}`"));
    }
    if let Some((values, _)) = input.values.as_ref().filter(|(values, _)| !values.is_empty()) {
        let values: Vec<String> = values.iter().map(|value| format!("`{}`", value.value)).collect();
        text.push_str(&format!("\n\n{}", values.join(", ")));
    }
    if let Some(description) = word(&input.description) {
        text.push_str(&format!("\n\n{description}"));
    }
    text
}

/// Describes a stage.
pub fn stage_text(at: usize, stage: &DraftStage) -> String {
    let mut text = format!("**stage {}** · {}", at + 1, actor(stage));
    if let Some(gate) = stage.gate.as_ref().filter(|_| !stage.actions.is_empty()) {
        text.push_str(&format!(" · gate {}", gate.value));
    }
    if let Some(when) = &stage.when {
        text.push_str(&format!("\n\nwhen `{}`", when.value.trim()));
    }
    if let Some(description) = &stage.description {
        text.push_str(&format!("\n\n{}", description.value));
    }
    text
}

/// A fact in a condition, with its current value.
fn fact(checked: &Checked, offset: usize, project: &Project) -> Option<Hover> {
    let mut conditions =
        checked.draft.stages.iter().filter_map(|stage| stage.when.as_ref().zip(stage.condition.as_ref()));
    let (text, expr) = conditions.find(|(text, _)| touched(checked, text, offset))?;
    let expr = expr.as_ref().ok()?;
    let mut found = None;
    expr.walk(&mut |expr| {
        if let Expr::Fact(name, span) = expr {
            let place = checked.tree.inside(text.slot.node, *span);
            if place.touches(offset) {
                found = Some((name.clone(), place, text.value[span.start..span.end].to_owned()));
            }
        }
    });
    let (name, span, written) = found?;
    Some(Hover { span, text: fact_text(&name, &written, project) })
}

/// Describes a fact. `written` may be another name for it.
pub fn fact_text(name: &str, written: &str, project: &Project) -> String {
    let help = |all: &[(&str, &str)], name: &str| {
        all.iter().find(|(known, _)| *known == name).map(|(_, help)| (*help).to_owned())
    };
    let own = project.facts.iter().find(|fact| fact.name == name);
    let meaning = help(WORDS, written).or_else(|| help(FACTS, name)).unwrap_or_else(|| {
        if own.is_some() { "your own, from `conditions`".to_owned() } else { "not defined".to_owned() }
    });
    let mut text = format!("**{written}** · fact\n\n{meaning}");
    match own.map(|fact| &fact.now) {
        Some(Some((value, reason))) => text.push_str(&format!("\n\nnow {value}: {reason}")),
        Some(None) => text.push_str("\n\ndecided when a run needs it"),
        None => {}
    }
    text
}

fn worker(checked: &Checked, offset: usize, project: &Project) -> Option<Hover> {
    let mut actions = checked.draft.stages.iter().flat_map(|stage| &stage.actions);
    let (key, text) = actions.find(|(_, text)| touched(checked, text, offset))?;
    let span = checked.tree.node(text.slot.node).span;
    let (what, workers, name) = match key {
        ActionKey::Agent => ("agent", &project.agents, text.value.as_str()),
        ActionKey::Skill => ("skill", &project.skills, text.value.as_str()),
        ActionKey::Pipeline => ("agent", &project.agents, ORCHESTRATOR),
    };
    let found = workers.iter().find(|worker| worker.name == name);
    let mut text = found.map_or_else(|| unknown(what, name), |worker| worker_text(what, worker));
    if *key == ActionKey::Pipeline {
        let help = PIPELINES
            .iter()
            .find(|(known, _)| *known == checked.source.slice(span).trim_matches(['"', '\'']));
        text = format!("{}\n\n{text}", help.map_or("an unknown pipeline", |(_, help)| help));
    }
    Some(Hover { span, text })
}

/// Describes an agent or a skill.
pub fn worker_text(what: &str, worker: &Worker) -> String {
    let mut text = format!("**{}** · {what}", worker.name);
    if !worker.description.is_empty() {
        text.push_str(&format!("\n\n{}", worker.description));
    }
    text.push_str(&format!("\n\n{}", worker.path.display()));
    for fault in &worker.faults {
        text.push_str(&format!("\n\n{fault}"));
    }
    text
}

fn unknown(what: &str, name: &str) -> String {
    if name.contains(':') {
        return format!("**{name}** · {what}\n\nbelongs to a plugin of the agent and cannot be checked here");
    }
    format!("**{name}** · {what}\n\nnot found in this project")
}

fn key(checked: &Checked, offset: usize) -> Option<Hover> {
    let (key, span, _) = fields(checked).into_iter().find(|(_, span, _)| span.touches(offset))?;
    Some(Hover { span, text: key_text(key) })
}

/// Describes a key.
pub fn key_text(key: &Key) -> String {
    let required = if key.required { " · required" } else { "" };
    let mut text = format!("**{}** · {}{required}\n\n{}", key.name, key.takes.called(), key.help);
    if let Takes::Word(words) = key.takes {
        for (word, help) in words {
            text.push_str(&format!("\n- `{word}`: {help}"));
        }
    }
    text
}

/// One of a key's allowed words.
fn word(checked: &Checked, offset: usize) -> Option<Hover> {
    let touched = |value: &Span| value.start < value.end && value.touches(offset);
    fields(checked).into_iter().filter(|(_, _, value)| touched(value)).find_map(|(key, _, span)| {
        let words = match key.takes {
            Takes::Word(words) => words,
            Takes::Harness => HARNESSES,
            _ => return None,
        };
        let written = checked.source.slice(span).trim_matches(['"', '\'']);
        let (word, help) = words.iter().find(|(word, _)| *word == written)?;
        Some(Hover { span, text: format!("**{word}** · {}\n\n{help}", key.name) })
    })
}

/// Every known key with its span and the span of its value.
pub fn fields(checked: &Checked) -> Vec<(&'static Key, Span, Span)> {
    let tree = &checked.tree;
    let mut found = Vec::new();
    let mut waiting: Vec<_> = tree.root().into_iter().map(|root| (root, Level::Top)).collect();
    while let Some((id, level)) = waiting.pop() {
        let Kind::Mapping(pairs) = &tree.node(id).kind else { continue };
        for (key, value) in pairs {
            let Kind::Scalar { text, .. } = &tree.node(*key).kind else { continue };
            let Some(known) = level.key(text) else { continue };
            found.push((known, tree.node(*key).span, tree.node(*value).span));
            match (known.takes, &tree.node(*value).kind) {
                (Takes::Mapping(inner), _) => waiting.push((*value, inner)),
                (Takes::List(inner), Kind::Sequence(items)) => {
                    waiting.extend(items.iter().map(|item| (*item, inner)))
                }
                _ => {}
            }
        }
    }
    found
}

fn touched(checked: &Checked, text: &Text, offset: usize) -> bool {
    text.slot.alias.is_none() && checked.tree.node(text.slot.node).span.touches(offset)
}

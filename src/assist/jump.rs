//! Go to definition, find references, and rename.

use super::occurrences::{self, Entity, occurrences};
use super::{Location, Project, Worker};
use crate::check::{Checked, is_kebab};
use crate::condition::is_input_name;
use crate::declaration::draft::ActionKey;
use crate::declaration::yaml_writer::plain_or_quoted;
use crate::diagnostic::Edit;
use crate::source::Span;

/// Where the name at `offset` is declared.
pub fn definition(checked: &Checked, offset: usize, project: &Project) -> Option<Location> {
    if let Some(found) = occurrences::at(checked, offset) {
        return declaration(checked, &found.entity).map(Location::Here);
    }
    let (key, text) = checked
        .draft
        .stages
        .iter()
        .flat_map(|stage| &stage.actions)
        .find(|(_, text)| checked.tree.node(text.slot.node).span.touches(offset))?;
    let worker = |workers: &[Worker], name: &str| {
        workers.iter().find(|worker| worker.name == name).map(|worker| Location::File(worker.path.clone()))
    };
    match key {
        ActionKey::Agent => worker(&project.agents, &text.value),
        ActionKey::Skill => worker(&project.skills, &text.value),
        ActionKey::Pipeline => worker(&project.agents, crate::check::ORCHESTRATOR),
    }
}

/// The position of an entity's name; for a stage number, the position of the stage.
fn declaration(checked: &Checked, entity: &Entity) -> Option<Span> {
    let found = occurrences(checked).into_iter().find(|other| other.declares && other.entity == *entity);
    found.map(|found| found.span).or_else(|| {
        let Entity::Stage(name) = entity else { return None };
        let at = name.parse::<usize>().ok()?.checked_sub(1)?;
        let stage = checked.draft.stages.get(at)?;
        let span = checked.tree.node(stage.slot.node).span;
        Some(Span::new(span.start, span.start))
    })
}

/// All positions of the name at `offset`.
pub fn references(checked: &Checked, offset: usize, with_declaration: bool) -> Vec<Span> {
    let Some(found) = occurrences::at(checked, offset) else { return Vec::new() };
    occurrences(checked)
        .into_iter()
        .filter(|other| other.entity == found.entity && (with_declaration || !other.declares))
        .map(|other| other.span)
        .collect()
}

/// The name at `offset`, if it can be renamed.
pub fn prepare_rename(checked: &Checked, offset: usize) -> Option<(Span, String)> {
    let found = occurrences::at(checked, offset)?;
    // A stage number is not a name, and an undeclared name has no references to follow.
    let declared = occurrences(checked).iter().any(|other| other.declares && other.entity == found.entity);
    declared.then(|| (found.span, found.entity.name().to_owned()))
}

/// The edits that rename what is at `offset`, everywhere.
pub fn rename(checked: &Checked, offset: usize, new: &str) -> Result<Vec<Edit>, String> {
    let Some(found) = occurrences::at(checked, offset).filter(|_| prepare_rename(checked, offset).is_some())
    else {
        return Err("no input or stage name here".to_owned());
    };
    let all = occurrences(checked);
    let (fits, other) = match &found.entity {
        Entity::Input(_) => (is_input_name(new), Entity::Input(new.to_owned())),
        Entity::Stage(_) => {
            let number = new.chars().all(|c| c.is_ascii_digit());
            (is_kebab(new) && !number, Entity::Stage(new.to_owned()))
        }
    };
    if !fits {
        return Err(match found.entity {
            Entity::Input(_) => {
                format!(
                    "invalid input name \"{new}\"; use a-z, A-Z, digits, \"_\" and \"-\", and start with a letter or \"_\""
                )
            }
            Entity::Stage(_) => {
                format!("invalid stage name \"{new}\"; use a-z, digits and \"-\" between them")
            }
        });
    }
    if new != found.entity.name()
        && all.iter().any(|occurrence| occurrence.declares && occurrence.entity == other)
    {
        return Err(format!("the name \"{new}\" is already used"));
    }
    let places = all.into_iter().filter(|occurrence| occurrence.entity == found.entity);
    let written = |bare: bool| if bare { plain_or_quoted(new) } else { new.to_owned() };
    Ok(places.map(|it| Edit { span: it.span, text: written(it.bare) }).collect())
}

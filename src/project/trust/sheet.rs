//! The summary of a superpower that is shown before the user answers.

use super::change::Change;
use super::covered::Files;
use super::driven::{Driven, file};
use crate::declaration::model::{Action, Declaration, Gate};
use crate::plan::{ORCHESTRATOR, one_line};
use crate::project::Index;
use serde::Serialize;
use std::path::Path;

/// What a run of the declaration would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sheet {
    pub superpower: String,
    pub version: String,
    /// Relative to the project.
    pub path: String,
    pub stages: Vec<SheetStage>,
    /// Every file that the answer covers.
    pub files: Vec<SheetFile>,
    /// Differences from the last answer.
    pub changes: Vec<Change>,
    /// What a foreign run's files claim, which nobody has verified.
    pub claim: Option<String>,
    /// Whether the user agreed in an older version of this plugin.
    pub older: bool,
}

/// A file of a [`Sheet`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SheetFile {
    /// Relative to the project, or starting with `~`.
    pub path: String,
}

/// One stage of a [`Sheet`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SheetStage {
    /// In the list, from 1.
    pub position: usize,
    /// Its description on one line, or else what it does.
    pub label: String,
    /// The agent's or skill's name; empty for a gate.
    pub actor: String,
    /// `agent`, `skill`, `pipeline` or `gate`.
    pub kind: &'static str,
    /// Whether it asks the user, after an action or without one.
    pub gate: bool,
    pub prompt: Option<String>,
    /// As written, in order.
    pub inputs: Vec<(String, String)>,
    /// The file that instructs the agent; `None` if it was not found, or belongs to a plugin of the agent.
    pub file: Option<String>,
}

pub(super) fn sheet(root: &Path, index: &Index, driven: &Driven, files: &Files) -> Sheet {
    let declaration = &driven.declaration;
    Sheet {
        superpower: declaration.name.value.clone(),
        version: declaration.version.value.clone(),
        path: relative(root, driven.kept.as_ref().unwrap_or(&driven.path)),
        stages: stages(root, index, declaration),
        files: files.keys().map(|path| SheetFile { path: path.clone() }).collect(),
        changes: Vec::new(),
        claim: None,
        older: false,
    }
}

fn relative(root: &Path, path: &Path) -> String {
    if let Ok(inner) = path.strip_prefix(root) {
        return inner.display().to_string();
    }
    let home = crate::project::root::home();
    let inner = home.as_deref().and_then(|home| path.strip_prefix(home).ok());
    inner.map_or_else(|| path.display().to_string(), |inner| format!("~/{}", inner.display()))
}

fn stages(root: &Path, index: &Index, declaration: &Declaration) -> Vec<SheetStage> {
    let stages = declaration.stages.iter().enumerate();
    stages
        .map(|(at, stage)| {
            let (kind, actor) = match stage.action.as_ref().map(|action| &action.value) {
                Some(Action::Agent(name)) => ("agent", name.as_str()),
                Some(Action::Skill(name)) => ("skill", name.as_str()),
                Some(Action::Pipeline(_)) => ("pipeline", ORCHESTRATOR),
                None => ("gate", ""),
            };
            let file = file(index, declaration, at).map(|path| relative(root, path));
            let described = stage.description.as_ref().map(|text| one_line(&text.value));
            SheetStage {
                position: at + 1,
                label: described.unwrap_or_else(|| format!("{kind} {actor}").trim().to_owned()),
                actor: actor.to_owned(),
                kind,
                gate: matches!(stage.gate.as_ref().map(|gate| gate.value), Some(Gate::HumanApproval)),
                prompt: None,
                inputs: stage
                    .inputs
                    .iter()
                    .map(|(key, text)| (key.value.clone(), text.value.clone()))
                    .collect(),
                file,
            }
        })
        .collect()
}

//! What is shown before the answer.

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
    /// The superpower's name.
    pub superpower: String,
    /// Its version.
    pub version: String,
    /// Its file, relative to the project.
    pub path: String,
    /// Its stages.
    pub stages: Vec<SheetStage>,
    /// Every file that the answer covers.
    pub files: Vec<SheetFile>,
    /// What differs from the last answer.
    pub changes: Vec<Change>,
    /// What somebody else's file says about a run, and nobody has seen.
    pub claim: Option<String>,
    /// Whether an older version was told yes.
    pub older: bool,
}

/// A file of a [`Sheet`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SheetFile {
    /// Relative to the project, or from the home directory.
    pub path: String,
}

/// One stage of a [`Sheet`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SheetStage {
    /// Position in the list, from 1.
    pub position: usize,
    /// Its whole description on one line, as written; else what it does.
    pub label: String,
    /// The agent's or skill's name; empty for a gate.
    pub actor: String,
    /// `agent`, `skill`, `pipeline` or `gate`.
    pub kind: &'static str,
    /// Whether it asks, after an action of its own or without one.
    pub gate: bool,
    /// Its own prompt.
    pub prompt: Option<String>,
    /// Its own inputs, as written, in their order.
    pub inputs: Vec<(String, String)>,
    /// The file that tells the agent what to be; none where it was not found, or belongs to a plugin of the agent.
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

//! What is going to be driven, and the files that tell its agents what to be.

use super::tools::Tools;
use crate::declaration::model::{Action, Declaration};
use crate::project::Index;
use std::path::{Path, PathBuf};

/// What is going to be driven.
#[derive(Clone, Debug)]
pub struct Driven {
    /// The declaration, as it was read from `bytes`.
    pub declaration: Declaration,
    /// Its bytes: those of its file, or of the copy that a run keeps.
    pub bytes: Vec<u8>,
    /// Its file, which may be gone. An answer is kept under it.
    pub path: PathBuf,
    /// The copy that a run keeps, where that is what will be driven and is not what the file holds.
    pub kept: Option<PathBuf>,
    /// What carries out each stage, in the order of the list.
    pub tools: Vec<Tools>,
}

impl Driven {
    /// What carries out a stage; nobody, for a gate.
    pub(super) fn tools(&self, stage: usize) -> Tools {
        let acts = self.declaration.stages[stage].action.is_some();
        self.tools.get(stage).copied().filter(|_| acts).unwrap_or(Tools::Nobody)
    }
}

const AGENT: &str = "agent ";
pub(super) const SKILL: &str = "skill ";

/// The name under which the files of a stage's agent or skill stand in a record.
pub(super) fn group(declaration: &Declaration, stage: usize) -> Option<String> {
    Some(match &declaration.stages[stage].action.as_ref()?.value {
        Action::Agent(name) => format!("{AGENT}{name}"),
        Action::Skill(name) => format!("{SKILL}{name}"),
        Action::Pipeline(_) => format!("{AGENT}{}", crate::plan::ORCHESTRATOR),
    })
}

/// The file that tells a stage's agent what to be: an agent's, or a skill's `SKILL.md`.
pub(super) fn file<'a>(index: &'a Index, declaration: &Declaration, stage: usize) -> Option<&'a Path> {
    all(index, &group(declaration, stage)?).next()
}

/// The same with those of the same name in the project's other places: the agent's own tool may take one of them.
pub(super) fn covered<'a>(index: &'a Index, root: &'a Path, group: &str) -> impl Iterator<Item = &'a Path> {
    let named = all(index, group).enumerate();
    named.filter(move |(at, path)| *at == 0 || path.starts_with(root)).map(|(_, path)| path)
}

/// The files of everything that has a group's name, the one that counts first.
fn all<'a>(index: &'a Index, group: &str) -> impl Iterator<Item = &'a Path> {
    let agents = group.strip_prefix(AGENT).map(str::to_owned);
    let skills = group.strip_prefix(SKILL).map(str::to_owned);
    let agents = agents.into_iter().flat_map(|name| index.agents_named(&name).collect::<Vec<_>>());
    let skills = skills.into_iter().flat_map(|name| index.skills_named(&name).collect::<Vec<_>>());
    agents.chain(skills).map(|named| named.path.as_path())
}

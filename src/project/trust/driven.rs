//! What will be driven, and the files that instruct its agents.

use super::tools::Tools;
use crate::declaration::model::{Action, Declaration};
use crate::project::Index;
use std::path::{Path, PathBuf};

/// What will be driven.
#[derive(Clone, Debug)]
pub struct Driven {
    /// The declaration, parsed from `bytes`.
    pub declaration: Declaration,
    /// The bytes of its file, or of the copy in the run's directory.
    pub bytes: Vec<u8>,
    /// Its file, which may no longer exist. The answer is saved under this path.
    pub path: PathBuf,
    /// The copy in the run's directory, if that will be driven and differs from the file.
    pub kept: Option<PathBuf>,
    /// The tools of each stage, in order.
    pub tools: Vec<Tools>,
}

impl Driven {
    /// The tools of a stage; [`Tools::Nobody`] for a gate.
    pub(super) fn tools(&self, stage: usize) -> Tools {
        let acts = self.declaration.stages[stage].action.is_some();
        self.tools.get(stage).copied().filter(|_| acts).unwrap_or(Tools::Nobody)
    }
}

const AGENT: &str = "agent ";
pub(super) const SKILL: &str = "skill ";

/// The name under which a record keeps the files of a stage's agent or skill.
pub(super) fn group(declaration: &Declaration, stage: usize) -> Option<String> {
    Some(match &declaration.stages[stage].action.as_ref()?.value {
        Action::Agent(name) => format!("{AGENT}{name}"),
        Action::Skill(name) => format!("{SKILL}{name}"),
        Action::Pipeline(_) => format!("{AGENT}{}", crate::plan::ORCHESTRATOR),
    })
}

/// The file that instructs a stage's agent: an agent file, or a skill's `SKILL.md`.
pub(super) fn file<'a>(index: &'a Index, declaration: &Declaration, stage: usize) -> Option<&'a Path> {
    all(index, &group(declaration, stage)?).next()
}

/// The same file, and those of the same name in the project's other places, because the agent's own tool may use one
/// of them.
pub(super) fn covered<'a>(index: &'a Index, root: &'a Path, group: &str) -> impl Iterator<Item = &'a Path> {
    let named = all(index, group).enumerate();
    named.filter(move |(at, path)| *at == 0 || path.starts_with(root)).map(|(_, path)| path)
}

/// All files with a group's name, in order of precedence.
fn all<'a>(index: &'a Index, group: &str) -> impl Iterator<Item = &'a Path> {
    let agents = group.strip_prefix(AGENT).map(str::to_owned);
    let skills = group.strip_prefix(SKILL).map(str::to_owned);
    let agents = agents.into_iter().flat_map(|name| index.agents_named(&name).collect::<Vec<_>>());
    let skills = skills.into_iter().flat_map(|name| index.skills_named(&name).collect::<Vec<_>>());
    agents.chain(skills).map(|named| named.path.as_path())
}

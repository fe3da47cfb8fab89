//! A declaration that was found and checked, and what is required of it before it drives.

use super::{Engine, Refusal, file};
use crate::check::{Checked, Context, Left};
use crate::diagnostic::Severity;
use crate::harness::{Kind, resolve};
use crate::plan::{Inputs, Plan};
use crate::project::agents;
use crate::project::links::Left as Link;
use crate::project::{Index, Named, Places, SuperpowerFile};
use crate::store::beneath;
use std::path::{Path, PathBuf};

/// A declaration that was found and checked.
pub struct Loaded {
    /// Where it is.
    pub file: SuperpowerFile,
    /// What is in the project.
    pub index: Index,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// What the checker says.
    pub checked: Checked,
}

impl Loaded {
    /// Finds a superpower by name and checks it.
    pub fn find(engine: &Engine, root: &Path, name: &str) -> Result<Self, Refusal> {
        let index = index(engine, root);
        let file = index.superpower(name).cloned()?;
        let read = file::read(Some(root), &file.path)?;
        let checked = read.checked(&context(engine, Some(&index), Some(&file.path)));
        Ok(Self { file, index, bytes: read.bytes(), checked })
    }

    /// The plan for these inputs; refused where the declaration has an error.
    pub fn plan(&self, inputs: &Inputs) -> Result<Plan, Refusal> {
        let Some(declaration) = self.checked.declaration.clone() else { return Err(self.invalid()) };
        Ok(Plan::new(declaration, inputs)?)
    }

    /// Its errors, a line each.
    pub fn errors(&self) -> Vec<String> {
        let file = self.file.path.file_name().unwrap_or_default().to_string_lossy();
        let lines = self.checked.lines(&file).into_iter().zip(&self.checked.diagnostics);
        lines.filter(|(_, it)| it.severity == Severity::Error).map(|(line, _)| line).collect()
    }

    /// The refusal of a declaration with errors.
    pub fn invalid(&self) -> Refusal {
        Refusal::InvalidDeclaration {
            name: self.file.name.clone(),
            path: self.file.path.clone(),
            errors: self.errors(),
        }
    }
}

/// Refuses where a stage's harness has no program.
pub fn require_harness(
    engine: &Engine,
    root: &Path,
    plan: &Plan,
    harness: Option<&str>,
) -> Result<(), Refusal> {
    let host = engine.host();
    for stage in (0..plan.total()).filter(|&stage| plan.acts(stage)) {
        let own = plan.stage(stage).harness.as_ref().map(|harness| harness.value.as_str());
        let name = own.or(harness).unwrap_or(&host.config.harness);
        let resolved = resolve(name, &host.harnesses, Some(root))?;
        if host.config.headless && matches!(resolved.kind, Kind::Manual) {
            return Err(Refusal::ManualHeadless);
        }
    }
    Ok(())
}

/// What is in a project.
pub fn index(engine: &Engine, root: &Path) -> Index {
    Index::read(root, &Places::from_env(engine.config().places))
}

/// What the checker may hold a declaration against: its file's name, and the project, each where there is one.
pub fn context(engine: &Engine, index: Option<&Index>, path: Option<&Path>) -> Context {
    let config = engine.config();
    let bare = Context { stem: path.map(stem), facts: config.conditions, ..Context::default() };
    let Some(index) = index else { return bare };
    let agents = index.agents.iter().map(|agent| agent.name.clone()).collect();
    // A skill answers to its directory's name and to its own.
    let skills = index.skills.iter().flat_map(|skill| std::iter::once(&skill.name).chain(&skill.alias));
    Context {
        agents: Some(agents),
        skills: Some(skills.cloned().collect()),
        agents_left: left(&index.left.agents, &index.agents),
        skills_left: left(&index.left.skills, &index.skills),
        harnesses: engine.harness_names(),
        twin: path.and_then(|path| twin(index, path)),
        ..bare
    }
}

/// Why an agent or a skill may be missing.
fn left(links: &[Link], all: &[Named]) -> Vec<Left> {
    let links = links.iter().map(|link| Left { name: link.name("md"), message: link.to_string() });
    // One whose name was read hides no other.
    let unnamed = |named: &&Named| {
        named.alias.is_none() && agents::stem(&named.path).is_some_and(|stem| *stem == *named.name)
    };
    let faults = all
        .iter()
        .filter(unnamed)
        .flat_map(|named| named.faults.iter().map(|fault| Left { name: None, message: named.said(fault) }));
    links.chain(faults).collect()
}

/// Another file of the same name in the same place.
fn twin(index: &Index, path: &Path) -> Option<String> {
    let (stem, path) = (stem(path), real(path));
    let twins = index.duplicates.iter().filter(|duplicate| duplicate.name == stem);
    let paths = twins.map(|duplicate| &duplicate.paths).find(|paths| paths.contains(&path))?;
    paths.iter().find(|other| **other != path).map(|other| other.display().to_string())
}

/// The name of a declaration by its file.
pub fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Where a file really is; a new one is where it is said to be.
pub fn real(path: &Path) -> PathBuf {
    beneath::real(path).unwrap_or_else(|_| path.to_owned())
}

//! What a declaration is checked against.

use crate::check::{Context, Left};
use crate::engine::core::Engine;
use crate::project::agents;
use crate::project::links::Left as Link;
use crate::project::{Index, Named, Places};
use crate::store::beneath;
use std::path::{Path, PathBuf};

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

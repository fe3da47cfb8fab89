//! Builds the context in which a declaration is checked.

use crate::check::{Context, Left};
use crate::engine::core::Engine;
use crate::project::agents;
use crate::project::links::Left as Link;
use crate::project::{Index, Named, Places};
use crate::store::beneath;
use std::path::{Path, PathBuf};

/// Reads the agents, skills and superpowers of a project.
pub fn index(engine: &Engine, root: &Path) -> Index {
    Index::read(root, &Places::from_env(engine.config().places))
}

/// The checker's context: the file's name and the project's agents and skills, as far as they are known.
pub fn context(engine: &Engine, index: Option<&Index>, path: Option<&Path>) -> Context {
    let config = engine.config();
    let bare = Context {
        stem: path.map(stem),
        facts: config.conditions,
        more_facts: config.command,
        ..Context::default()
    };
    let Some(index) = index else { return bare };
    let agents = index.agents.iter().map(|agent| agent.name.clone()).collect();
    // A skill can be named by its directory or by its own name.
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

/// Files and links that could not be read, which may explain a missing agent or skill.
fn left(links: &[Link], all: &[Named]) -> Vec<Left> {
    let links = links.iter().map(|link| Left { name: link.name("md"), message: link.to_string() });
    // An agent whose name was read is not missing because of its other faults.
    let unnamed = |named: &&Named| {
        named.alias.is_none() && agents::stem(&named.path).is_some_and(|stem| *stem == *named.name)
    };
    let faults = all
        .iter()
        .filter(unnamed)
        .flat_map(|named| named.faults.iter().map(|fault| Left { name: None, message: named.said(fault) }));
    links.chain(faults).collect()
}

/// Another superpower file with the same name in the same directory.
fn twin(index: &Index, path: &Path) -> Option<String> {
    let (stem, path) = (stem(path), real(path));
    let twins = index.duplicates.iter().filter(|duplicate| duplicate.name == stem);
    let paths = twins.map(|duplicate| &duplicate.paths).find(|paths| paths.contains(&path))?;
    paths.iter().find(|other| **other != path).map(|other| other.display().to_string())
}

/// The superpower's name, from its file's name.
pub fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The path without symbolic links; a file that does not exist yet keeps the given path.
pub fn real(path: &Path) -> PathBuf {
    beneath::real(path).unwrap_or_else(|_| path.to_owned())
}

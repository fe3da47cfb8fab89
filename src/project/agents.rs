//! Finds the agents of a project and of its user: which folders are searched, and how each agent is named.

use super::links::Left;
use super::named::{Named, named};
use super::places::{Place, Places, Source, of_project, of_user};
use super::walk;
use crate::check::is_argument;
use std::path::{Path, PathBuf};

/// Project folders that are searched recursively. Of several agents with one name, the first in this order counts.
const PROJECT: [(&str, Source); 4] = [
    (".claude/agents", Source::Project),
    (".opencode/agent", Source::OpenCode),
    (".opencode/agents", Source::OpenCode),
    (".agents/agents", Source::Agents),
];

/// Copilot's folder. It is not searched recursively, and only files with Copilot's extension count.
const GITHUB: &str = ".github/agents";
const GITHUB_ENDING: &str = ".agent.md";

/// The user's folders, in order of precedence.
const USER: [(&str, Source); 3] = [
    (".claude/agents", Source::User),
    (".config/opencode/agent", Source::UserOpenCode),
    (".config/opencode/agents", Source::UserOpenCode),
];

/// All agents, in order of precedence. Links that were not followed are added to `left`.
pub(super) fn all(root: &Path, places: &Places, left: &mut Vec<Left>) -> Vec<Named> {
    let mut found = Vec::new();
    for place in of_project(root, &PROJECT) {
        tree(&place, left, &mut found);
    }
    github(root, left, &mut found);
    for place in of_user(places, &USER) {
        tree(&place, left, &mut found);
    }
    found
}

/// The agent's name that the file name implies.
pub fn stem(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    let is_github = path.parent().is_some_and(|dir| dir.ends_with(GITHUB));
    let ending = if is_github && name.ends_with(GITHUB_ENDING) { GITHUB_ENDING } else { ".md" };
    name.strip_suffix(ending)
}

fn tree((dir, bound, source): &Place, left: &mut Vec<Left>, found: &mut Vec<Named>) {
    let (files, not_followed) = walk::search(dir, bound.as_deref(), |name| name.ends_with(".md"));
    left.extend(not_followed);
    let door = walk::door(dir, bound.as_deref());
    found.extend(files.into_iter().filter_map(|path| {
        let stem = stem(&path)?.to_owned();
        let mut agent = named(&door, path, stem, *source);
        agent.name = agent.alias.take().unwrap_or(agent.name);
        Some(agent)
    }));
}

fn github(root: &Path, left: &mut Vec<Left>, found: &mut Vec<Named>) {
    let dir = root.join(GITHUB);
    if let Some(not_followed) = Left::on_the_way(root, &dir) {
        left.push(not_followed);
        return;
    }
    let door = walk::door(&dir, Some(root));
    let Ok(entries) = door.list(&dir) else { return };
    let paths = entries.into_iter().map(|entry| dir.join(entry.name));
    for path in paths.filter(|path| path.to_str().is_some_and(|path| path.ends_with(GITHUB_ENDING))) {
        if door.is_file(&path) {
            found.extend(copilots(&door, path));
        } else {
            left.extend(Left::on_the_way(root, &path));
        }
    }
}

/// Copilot shows `name` as a title, which may contain spaces. Such an agent cannot be called by its title.
fn copilots(door: &crate::store::beneath::Door, path: PathBuf) -> Option<Named> {
    let stem = stem(&path)?.to_owned();
    let mut agent = named(door, path, stem, Source::GitHub);
    if let Some(name) = agent.alias.take().filter(|name| is_argument(name)) {
        agent.name = name;
    }
    Some(agent)
}

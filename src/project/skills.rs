//! Finds the skills of a project and of its user. A skill is a folder that contains a `SKILL.md`.

use super::links::Left;
use super::named::{Named, named};
use super::places::{Places, Source, of_project, of_user};
use super::walk;
use std::path::Path;

/// Project folders with skills. Of several skills with one name, the first in this order counts.
const PROJECT: [(&str, Source); 4] = [
    (".claude/skills", Source::Project),
    (".agents/skills", Source::Agents),
    (".opencode/skill", Source::OpenCode),
    (".opencode/skills", Source::OpenCode),
];

/// The user's folders, in order of precedence.
const USER: [(&str, Source); 2] = [(".claude/skills", Source::User), (".agents/skills", Source::UserAgents)];

/// All skills, in order of precedence. Links that were not followed are added to `left`.
pub(super) fn all(root: &Path, places: &Places, left: &mut Vec<Left>) -> Vec<Named> {
    let mut dirs = of_project(root, &PROJECT);
    dirs.extend(of_user(places, &USER));
    let mut found = Vec::new();
    for (dir, bound, source) in dirs {
        if let Some(not_followed) = bound.as_deref().and_then(|root| Left::on_the_way(root, &dir)) {
            left.push(not_followed);
            continue;
        }
        let door = walk::door(&dir, bound.as_deref());
        let Ok(entries) = door.list(&dir) else { continue };
        for name in entries.into_iter().filter_map(|entry| entry.name.into_string().ok()) {
            let path = dir.join(&name).join("SKILL.md");
            if door.is_file(&path) {
                found.push(named(&door, path, name, source));
            } else if let Some(root) = bound.as_deref() {
                left.extend(Left::on_the_way(root, &path));
            }
        }
    }
    found
}

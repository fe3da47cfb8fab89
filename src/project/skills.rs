//! The skills of a project and of its user: where they are looked for. A skill is a folder with a `SKILL.md` in it.

use super::links::Left;
use super::named::{Named, named};
use super::places::{Places, Source, of_project, of_user};
use super::walk;
use std::path::Path;

/// Folders of the project that hold skills, in this order: the first of a name counts.
const PROJECT: [(&str, Source); 4] = [
    (".claude/skills", Source::Project),
    (".agents/skills", Source::Agents),
    (".opencode/skill", Source::OpenCode),
    (".opencode/skills", Source::OpenCode),
];

/// The user's folders, in this order.
const USER: [(&str, Source); 2] = [(".claude/skills", Source::User), (".agents/skills", Source::UserAgents)];

/// All skills, in the order in which names are looked up. Links that were not followed are added to `left`.
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

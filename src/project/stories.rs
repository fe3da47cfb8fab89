//! Stories: which one is current, and whether it has a user interface.

use super::named::head;
use super::walk;
use crate::store::beneath::{Door, Kind};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// The folder of stories.
pub const STORIES: &str = "docs/stories";

/// A story, from its front matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Story {
    /// Relative to the project.
    pub path: PathBuf,
    /// `story_slug`, or else the file's stem.
    pub slug: String,
    pub epic: Option<String>,
    /// Whether it has `ui: true`.
    pub ui: bool,
}

/// The stories of a run: the one that the input `story` names, else those whose slug, directory or epic is the value
/// of an input, else all.
pub fn current(root: &Path, inputs: &BTreeMap<String, String>) -> Vec<Story> {
    let all = all(root);
    let given = |key: &str| inputs.get(key).map(|value| value.trim()).filter(|value| !value.is_empty());
    if let Some(named) = given("story").and_then(|story| named(root, story)) {
        return named;
    }
    let wanted: Vec<&str> = ["feature_slug", "story_slug", "epic"].into_iter().filter_map(given).collect();
    let matching: Vec<Story> =
        all.iter().filter(|story| wanted.iter().any(|word| matches(story, word))).cloned().collect();
    if matching.is_empty() { all } else { matching }
}

pub fn all(root: &Path) -> Vec<Story> {
    below(root, &root.join(STORIES))
}

fn below(root: &Path, dir: &Path) -> Vec<Story> {
    let counts = |name: &str| name.ends_with(".md") && !name.starts_with('_');
    walk::files(dir, Some(root), counts).iter().filter_map(|path| read(root, path)).collect()
}

fn read(root: &Path, path: &Path) -> Option<Story> {
    let head = head(&Door::people(root), path)?;
    Some(Story {
        slug: head.get("story_slug").or(path.file_stem()?.to_str()).unwrap_or_default().to_owned(),
        epic: head.get("epic").map(str::to_owned),
        ui: head.is_true("ui"),
        path: path.strip_prefix(root).unwrap_or(path).to_path_buf(),
    })
}

/// The stories that the input `story` names: a file or a directory, relative to the project or to the stories'
/// folder.
fn named(root: &Path, story: &str) -> Option<Vec<Story>> {
    let relative = Path::new(story);
    if !relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        return None;
    }
    let from_root = root.join(relative);
    let from_stories = root.join(STORIES).join(relative);
    let with_extension = root.join(STORIES).join(format!("{story}.md"));
    let door = Door::people(root);
    [from_root, from_stories, with_extension].into_iter().find_map(|path| match door.stat(&path).ok()?.kind {
        Kind::Dir => Some(below(root, &path)).filter(|found| !found.is_empty()),
        _ => Some(vec![read(root, &path)?]),
    })
}

fn matches(story: &Story, word: &str) -> bool {
    let folder = story.path.strip_prefix(STORIES).ok().and_then(Path::parent);
    let in_folder = folder.is_some_and(|folder| {
        folder == Path::new(word) || folder.components().any(|part| part.as_os_str() == word)
    });
    story.slug == word || story.epic.as_deref() == Some(word) || in_folder
}

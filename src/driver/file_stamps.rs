//! What a project's files are at a moment, told by what the system keeps of each. Reading that takes a small part of what
//! a look with git takes, so that each attempt of a small project can have one of its own; in a large one git alone is
//! asked.

use crate::store::beneath::{Door, Kind, Meta};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Files and folders beyond this many make a project large.
const MOST: usize = 1000;
/// Where no agent's work lies.
const OURS: [&str; 2] = [".claude/state", ".claude/logs"];

/// The files of a small project.
#[derive(Debug)]
pub struct Stamps(BTreeMap<PathBuf, Meta>);

impl Stamps {
    /// The files below `root`, but for git's and ours; none where they are too many.
    pub fn of(root: &Path) -> Option<Self> {
        let door = Door::people(root);
        let mut files = BTreeMap::new();
        let mut folders = vec![PathBuf::new()];
        let mut left = MOST;
        while let Some(folder) = folders.pop() {
            // One that is gone meanwhile has nothing in it.
            let entries = door.metas(&folder, left + 1).unwrap_or_default();
            left = left.checked_sub(entries.len())?;
            for (name, meta) in entries {
                let path = folder.join(&name);
                match meta.kind {
                    Kind::Dir if name == ".git" || OURS.iter().any(|ours| path == Path::new(ours)) => {}
                    Kind::Dir => folders.push(path),
                    _ => _ = files.insert(path, meta),
                }
            }
        }
        Some(Self(files))
    }

    /// The files that are new or were touched since `before`, relative to the project root.
    pub fn touched_since(&self, before: &Self) -> Vec<String> {
        let touched = self.0.iter().filter(|(path, meta)| before.0.get(*path) != Some(*meta));
        touched.map(|(path, _)| path.to_string_lossy().into_owned()).collect()
    }
}

//! Records the stamps of a project's files at one moment. This takes a small part of the time of a git comparison, so
//! in a small project each attempt can have its own. In a large project we rely on git alone.

use crate::store::beneath::{Door, Kind, Meta};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A project with more files and folders than this is large.
const LIMIT: usize = 1000;
/// Folders that never contain an agent's work.
const OURS: [&str; 2] = [".claude/state", ".claude/logs"];

/// The stamps of a small project's files.
#[derive(Debug)]
pub struct Stamps(BTreeMap<PathBuf, Meta>);

impl Stamps {
    /// Stamps of the files below `root`, except git's and ours; `None` if there are too many.
    pub fn of(root: &Path) -> Option<Self> {
        let door = Door::people(root);
        let mut files = BTreeMap::new();
        let mut folders = vec![PathBuf::new()];
        let mut left = LIMIT;
        while let Some(folder) = folders.pop() {
            // A folder that disappeared meanwhile is empty.
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

    /// The files that are new or changed since `before`, relative to the project root.
    pub fn touched_since(&self, before: &Self) -> Vec<String> {
        let touched = self.0.iter().filter(|(path, meta)| before.0.get(*path) != Some(*meta));
        touched.map(|(path, _)| path.to_string_lossy().into_owned()).collect()
    }
}

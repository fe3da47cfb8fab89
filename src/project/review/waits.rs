//! Finds what git waits for: it opens the rules of a work tree and the files of a git directory whatever they are, and
//! a pipe that nobody writes to, which an archive may have brought along, would keep it.

use crate::store::beneath::{Door, Kind};
use std::path::{Path, PathBuf};

/// Files of a work tree that git reads by itself.
const RULES: [&str; 3] = [".gitattributes", ".gitignore", ".gitmodules"];
/// Entries that are looked at.
const ENTRIES: usize = 200_000;
/// Nesting limit.
const DEPTH: usize = 64;

/// A pipe or a device where git reads a file of the project that contains `folder`.
pub(super) fn waited_for(folder: &Path) -> Option<PathBuf> {
    let has_git = |dir: &&Path| Door::home(dir).lstat(Path::new(".git")).is_ok();
    let top = folder.ancestors().find(has_git).unwrap_or(folder);
    let mut search = Search { door: Door::home(top), remaining: ENTRIES };
    search.below(top, false, 0)
}

struct Search {
    door: Door,
    remaining: usize,
}

impl Search {
    fn below(&mut self, dir: &Path, of_git: bool, depth: usize) -> Option<PathBuf> {
        let entries = self.door.some(dir, self.remaining).unwrap_or_default();
        self.remaining -= entries.len();
        let mut folders = Vec::new();
        for entry in entries {
            let path = dir.join(&entry.name);
            let reads = of_git || RULES.iter().any(|rule| entry.name == *rule) || entry.name == ".git";
            if entry.is_dir {
                folders.push((path, of_git || entry.name == ".git"));
            } else if reads && !entry.is_file && self.keeps(&path) {
                return Some(path);
            }
        }
        if depth >= DEPTH {
            return None;
        }
        // Git's own files first: there are few, and each of them stops every call.
        folders.sort_by_key(|(_, of_git)| !of_git);
        folders.into_iter().find_map(|(path, of_git)| self.below(&path, of_git, depth + 1))
    }

    /// Whether opening it may take for ever. git makes sockets of its own, which are refused at once.
    fn keeps(&self, path: &Path) -> bool {
        self.door.stat(path).is_ok_and(|meta| meta.kind == Kind::Other)
    }
}

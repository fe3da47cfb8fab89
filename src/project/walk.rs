//! Walks the files of a directory without leaving the project.

use super::links::Left;
use crate::store::beneath::{Door, Kind};
use std::path::{Path, PathBuf};

/// Nesting limit; deeper than any tree of declarations, agents or stories.
const DEPTH: usize = 64;
/// Entry limit, in case a folder is not meant for us.
const ENTRIES: usize = 50_000;
/// Entry limit for a search of the whole project.
const PROJECT_ENTRIES: usize = 2_000_000;

/// The door to a directory whose links must stay in `bound` (a real path; `None` allows all links).
pub fn door(dir: &Path, bound: Option<&Path>) -> Door {
    bound.map_or_else(|| Door::home(dir), Door::people)
}

/// The regular files under `dir` whose names `take` accepts, sorted by path as `find … | sort` does.
///
/// Links are followed only if they stay inside `bound` (a real path; `None` allows all links). Cycles are not
/// followed.
pub fn files(dir: &Path, bound: Option<&Path>, take: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    search(dir, bound, take).0
}

/// Like [`files`], and also returns the links to such files and to folders that were not followed.
pub fn search(dir: &Path, bound: Option<&Path>, take: impl Fn(&str) -> bool) -> (Vec<PathBuf>, Vec<Left>) {
    let mut found = Vec::new();
    let wanted = |path: &Path| path.file_name().and_then(|name| name.to_str()).is_some_and(&take);
    let mut remaining = ENTRIES;
    let mut left = walk(dir, bound, &mut |path| {
        remaining -= 1;
        if wanted(path) {
            found.push(path.to_path_buf());
        }
        remaining > 0
    });
    let in_bytes =
        |a: &PathBuf, b: &PathBuf| a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes());
    found.sort_by(in_bytes);
    left.sort_by(in_bytes);
    let anywhere = Door::home(dir);
    left.retain(|path| path == dir || wanted(path) || anywhere.is_dir(path));
    let named = |path: &PathBuf| Left::on_the_way(bound?, path);
    (found, left.iter().filter_map(named).collect())
}

/// Calls `visit` for each regular file under `dir`, unsorted, until it returns false. Git's own files are skipped.
pub fn each(dir: &Path, bound: Option<&Path>, visit: &mut impl FnMut(&Path) -> bool) {
    walk(dir, bound, visit);
}

/// Walks `dir`, and returns the links that were not followed, possibly `dir` itself.
fn walk(dir: &Path, bound: Option<&Path>, visit: &mut impl FnMut(&Path) -> bool) -> Vec<PathBuf> {
    let door = door(dir, bound);
    let Ok(top) = door.stat(dir) else { return vec![dir.to_owned()] };
    let mut walk = Walk { door, above: vec![top.file], remaining: PROJECT_ENTRIES, left: Vec::new() };
    walk.descend(dir, visit);
    walk.left
}

struct Walk {
    door: Door,
    /// The open folders by device and inode, to detect a link back to one of them.
    above: Vec<(u64, u64)>,
    /// How many more entries may be visited.
    remaining: usize,
    /// Links that were not followed.
    left: Vec<PathBuf>,
}

impl Walk {
    fn descend(&mut self, dir: &Path, visit: &mut impl FnMut(&Path) -> bool) -> bool {
        let Ok(entries) = self.door.some(dir, self.remaining) else { return true };
        self.remaining -= entries.len();
        for entry in entries {
            let path = dir.join(&entry.name);
            if entry.is_file {
                if !visit(&path) {
                    return false;
                }
                continue;
            }
            if !(entry.is_dir || entry.is_link) {
                continue;
            }
            let Ok(there) = self.door.stat(&path) else {
                if entry.is_link {
                    self.left.push(path);
                }
                continue;
            };
            match there.kind {
                Kind::File if !visit(&path) => return false,
                Kind::Dir => {
                    let known = self.above.contains(&there.file);
                    if entry.name == ".git" || self.above.len() >= DEPTH || known {
                        continue;
                    }
                    self.above.push(there.file);
                    let on = self.descend(&path, visit);
                    self.above.pop();
                    if !on {
                        return false;
                    }
                }
                _ => {}
            }
        }
        true
    }
}

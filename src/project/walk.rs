//! Files under a directory, without leaving the project.

use super::links::Left;
use crate::store::beneath::{Door, Kind};
use std::path::{Path, PathBuf};

/// No tree that people keep declarations, agents or stories in is deeper.
const DEPTH: usize = 64;
/// A bound for a folder that was not meant for us.
const ENTRIES: usize = 50_000;
/// Entries that are looked at where a file of a whole project is looked for.
const LOOKED: usize = 2_000_000;

/// The door to a directory whose links are bound to a project (a real path; none: they lead anywhere).
pub fn door(dir: &Path, bound: Option<&Path>) -> Door {
    bound.map_or_else(|| Door::home(dir), Door::people)
}

/// The regular files under `dir` that `take` wants by their file name, sorted by path as `find … | sort` does.
///
/// Symlinks are followed only where they stay inside `bound` (a real path; none: anywhere), and never in a circle.
pub fn files(dir: &Path, bound: Option<&Path>, take: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    search(dir, bound, take).0
}

/// The same, with the links to such files and to folders that were not followed.
pub fn search(dir: &Path, bound: Option<&Path>, take: impl Fn(&str) -> bool) -> (Vec<PathBuf>, Vec<Left>) {
    let mut found = Vec::new();
    let wanted = |path: &Path| path.file_name().and_then(|name| name.to_str()).is_some_and(&take);
    let mut more = ENTRIES;
    let mut left = walk(dir, bound, &mut |path| {
        more -= 1;
        if wanted(path) {
            found.push(path.to_path_buf());
        }
        more > 0
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

/// Shows each regular file under `dir` to `visit`, in no order, until that says `false`. Git's own files are left out.
pub fn each(dir: &Path, bound: Option<&Path>, visit: &mut impl FnMut(&Path) -> bool) {
    walk(dir, bound, visit);
}

/// The same; gives the links that were not followed, `dir` itself among them.
fn walk(dir: &Path, bound: Option<&Path>, visit: &mut impl FnMut(&Path) -> bool) -> Vec<PathBuf> {
    let door = door(dir, bound);
    let Ok(top) = door.stat(dir) else { return vec![dir.to_owned()] };
    let mut walk = Walk { door, above: vec![top.file], more: LOOKED, left: Vec::new() };
    walk.descend(dir, visit);
    walk.left
}

struct Walk {
    door: Door,
    /// The folders that are being walked, by device and inode: a link may lead back to one of them.
    above: Vec<(u64, u64)>,
    /// How many entries more are looked at.
    more: usize,
    /// Links that were not followed.
    left: Vec<PathBuf>,
}

impl Walk {
    fn descend(&mut self, dir: &Path, visit: &mut impl FnMut(&Path) -> bool) -> bool {
        let Ok(entries) = self.door.some(dir, self.more) else { return true };
        self.more -= entries.len();
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

//! Files under a directory, without leaving the project.

use super::links::Left;
use std::fs;
use std::path::{Path, PathBuf};

/// No tree that people keep declarations, agents or stories in is deeper.
const DEPTH: usize = 64;
/// A bound for a folder that was not meant for us.
const ENTRIES: usize = 50_000;

/// The regular files under `dir` that `take` wants by their file name, sorted by path as `find … | sort` does.
///
/// Symlinks are followed only where they stay inside `bound` (a real path; none: anywhere), and never in a circle.
pub fn files(dir: &Path, bound: Option<&Path>, take: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    search(dir, bound, take).0
}

/// The same, with the links to such files and to folders that were not followed.
pub fn search(dir: &Path, bound: Option<&Path>, take: impl Fn(&str) -> bool) -> (Vec<PathBuf>, Vec<Left>) {
    let (mut found, mut left) = (Vec::new(), Vec::new());
    let wanted = |path: &Path| path.file_name().and_then(|name| name.to_str()).is_some_and(&take);
    let mut more = ENTRIES;
    let mut visit = |path: &Path| {
        more -= 1;
        if wanted(path) {
            found.push(path.to_path_buf());
        }
        more > 0
    };
    match real_inside(dir, bound) {
        Some(real) => {
            descend(dir, &mut vec![real], bound, &mut visit, &mut left);
        }
        None => left.push(dir.to_path_buf()),
    }
    let in_bytes =
        |a: &PathBuf, b: &PathBuf| a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes());
    found.sort_by(in_bytes);
    left.sort_by(in_bytes);
    left.retain(|path| path == dir || wanted(path) || path.is_dir());
    let named = |path: &PathBuf| Left::on_the_way(bound?, path);
    (found, left.iter().filter_map(named).collect())
}

/// Shows each regular file under `dir` to `visit`, in no order, until that says `false`. Git's own files are left out.
pub fn each(dir: &Path, bound: Option<&Path>, visit: &mut impl FnMut(&Path) -> bool) {
    if let Some(real) = real_inside(dir, bound) {
        descend(dir, &mut vec![real], bound, visit, &mut Vec::new());
    }
}

/// The real path of `path`, if it exists and lies inside `bound` (which is a real path).
pub fn real_inside(path: &Path, bound: Option<&Path>) -> Option<PathBuf> {
    path.canonicalize().ok().filter(|real| bound.is_none_or(|bound| real.starts_with(bound)))
}

fn descend(
    dir: &Path,
    above: &mut Vec<PathBuf>,
    bound: Option<&Path>,
    visit: &mut impl FnMut(&Path) -> bool,
    left: &mut Vec<PathBuf>,
) -> bool {
    let Ok(entries) = fs::read_dir(dir) else { return true };
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else { continue };
        let inside = if kind.is_symlink() { real_inside(&path, bound) } else { Some(path.clone()) };
        let Some(inside) = inside else {
            left.push(path);
            continue;
        };
        if inside.is_dir() {
            let Ok(real) = inside.canonicalize() else { continue };
            if entry.file_name() == ".git" || above.len() >= DEPTH || above.contains(&real) {
                continue;
            }
            above.push(real);
            let on = descend(&path, above, bound, visit, left);
            above.pop();
            if !on {
                return false;
            }
        } else if inside.is_file() && !visit(&path) {
            return false;
        }
    }
    true
}

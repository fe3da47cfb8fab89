//! Reads the commit of git's HEAD from its files, without starting a process.

use crate::project::branch::{Repository, repository};
use crate::store::beneath::{Door, SMALL};
use std::path::Path;

/// The commit of HEAD in the repository that contains `root`; `None` without a repository or a commit.
pub fn head(root: &Path) -> Option<String> {
    let repository = repository(root)?;
    let mut text = read(&repository.dir, "HEAD")?;
    // A reference may point to another one; the limit ends a cycle.
    for _ in 0..5 {
        let Some(name) = text.trim().strip_prefix("ref:").map(str::trim) else {
            return Some(text.trim().to_owned()).filter(|text| is_commit(text));
        };
        if name.split('/').any(|part| part == "..") {
            return None;
        }
        text = loose(&repository, name).or_else(|| packed(&repository.common, name))?;
    }
    None
}

fn loose(repository: &Repository, name: &str) -> Option<String> {
    let dirs = [&repository.dir, &repository.common];
    dirs.into_iter().find_map(|dir| read(dir, name))
}

fn packed(dir: &Path, name: &str) -> Option<String> {
    let text = read(dir, "packed-refs")?;
    let mut lines = text.lines().filter_map(|line| line.split_once(' '));
    lines.find(|(_, packed)| packed.trim() == name).map(|(sha, _)| sha.to_owned())
}

/// Reads one of git's files, from the worktree's directory or the common one.
fn read(dir: &Path, name: &str) -> Option<String> {
    Door::home(dir).read_text(Path::new(name), SMALL).ok()
}

fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

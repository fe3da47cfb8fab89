//! The commit that git's HEAD is at, read from its files: no process is started for it.

use crate::project::branch::{Repository, repository};
use std::fs;
use std::path::Path;

/// The commit that HEAD is at, in the repository that holds `root`; none where there is none, or no commit yet.
pub fn head(root: &Path) -> Option<String> {
    let repository = repository(root)?;
    let mut text = fs::read_to_string(repository.dir.join("HEAD")).ok()?;
    // A reference may name another; a circle of them ends here.
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
    dirs.into_iter().find_map(|dir| fs::read_to_string(dir.join(name)).ok())
}

fn packed(dir: &Path, name: &str) -> Option<String> {
    let text = fs::read_to_string(dir.join("packed-refs")).ok()?;
    let mut lines = text.lines().filter_map(|line| line.split_once(' '));
    lines.find(|(_, packed)| packed.trim() == name).map(|(sha, _)| sha.to_owned())
}

fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

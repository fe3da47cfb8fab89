//! Git's HEAD, read from its files: no process is started for it.

use std::fs;
use std::path::{Path, PathBuf};

/// The commit that HEAD is at, in the repository that holds `root`; none where there is none, or no commit yet.
pub fn head(root: &Path) -> Option<String> {
    let git = root.ancestors().map(|dir| dir.join(".git")).find(|path| path.exists())?;
    let dir = directory(&git)?;
    let shared =
        fs::read_to_string(dir.join("commondir")).map_or_else(|_| dir.clone(), |text| dir.join(text.trim()));
    let mut name = fs::read_to_string(dir.join("HEAD")).ok()?;
    for _ in 0..5 {
        let text = name.trim();
        let Some(reference) = text.strip_prefix("ref:").map(str::trim) else {
            return is_commit(text).then(|| text.to_owned());
        };
        if reference.split('/').any(|part| part == "..") {
            return None;
        }
        name = [&dir, &shared]
            .into_iter()
            .find_map(|dir| fs::read_to_string(dir.join(reference)).ok())
            .or_else(|| packed(&shared, reference))?;
    }
    None
}

/// `.git` itself, or what a work tree's `.git` file names.
fn directory(git: &Path) -> Option<PathBuf> {
    if git.is_dir() {
        return Some(git.to_owned());
    }
    let text = fs::read_to_string(git).ok()?;
    Some(git.parent()?.join(text.strip_prefix("gitdir:")?.trim()))
}

fn packed(dir: &Path, reference: &str) -> Option<String> {
    let text = fs::read_to_string(dir.join("packed-refs")).ok()?;
    text.lines().find_map(|line| {
        let (sha, name) = line.split_once(' ')?;
        (name.trim() == reference).then(|| sha.to_owned())
    })
}

fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

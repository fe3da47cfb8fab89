//! The plugin's own files in a project, which no review lists. They are known by their exact names, because an agent could
//! write other files beside them.

use crate::store::names::is_run_id;
use std::path::Path;

/// The directory of all runs.
const RUNS: &str = ".claude/state/runs/";
/// The files in a run's directory, with a number for each `#`.
const OF_RUN: &[&str] = &[
    ".metadata.lock/owner.json",
    "attempts/#-stage-#/output.log",
    "attempts/#-stage-#/processes.jsonl",
    "attempts/#-stage-#/prompt.md",
    "checkpoint-waits",
    "declaration-#.yaml",
    "journal.foreign-#.jsonl",
    "journal.jsonl",
    "metadata.json",
    "review-#.#.json",
    "summary.json",
];
/// Single files, in directories that others write to.
const FILES: &[&str] = &[
    ".claude/logs/.gitignore",
    ".claude/logs/superpower.log",
    ".claude/logs/superpower.log.1",
    ".claude/state/.gitignore",
    ".claude/state/drive.lock",
    ".claude/state/squad.json",
];

/// The plugin's own files in one project.
#[derive(Debug)]
pub(super) struct OwnFiles {
    folders: Vec<String>,
}

impl OwnFiles {
    /// Includes our state directory if it is inside of the project, for example if the project is the home directory.
    pub fn of(root: &Path, state: &Path) -> Self {
        let mut folders = Vec::new();
        let inner = state.canonicalize().ok();
        if let Some(inner) = inner.as_ref().and_then(|dir| dir.strip_prefix(root).ok()?.to_str()) {
            folders.push(format!("{inner}/"));
        }
        Self { folders }
    }

    /// Whether a file, or a directory that ends in `/`, is ours.
    pub fn has(&self, path: &str) -> bool {
        let inside = self.folders.iter().any(|folder| path.starts_with(folder.as_str()));
        inside
            || is_exactly_ours(path)
            || target_of_temporary(path).is_some_and(|path| is_exactly_ours(&path))
    }

    /// The names as lines for git's ignore rules, relative to the project.
    pub fn patterns(&self) -> impl Iterator<Item = &str> {
        self.folders.iter().map(String::as_str).chain(FILES.iter().copied())
    }
}

/// Whether it is the path of one of our files.
fn is_exactly_ours(path: &str) -> bool {
    FILES.contains(&path) || path.strip_prefix(RUNS).is_some_and(is_of_run)
}

/// Whether it is one of our files in a run's directory; the path begins with the run's id.
fn is_of_run(path: &str) -> bool {
    let Some((_, file)) = path.split_once('/').filter(|(id, _)| is_run_id(id)) else { return false };
    OF_RUN.iter().any(|shape| fits(file, shape))
}

/// Whether the name matches, with a number for each `#`.
fn fits(name: &str, shape: &str) -> bool {
    let mut parts = shape.split('#');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    for part in parts {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        match rest[digits..].strip_prefix(part).filter(|_| (1..=20).contains(&digits)) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    rest.is_empty()
}

/// The file that a temporary file `.NAME.PID.N.new` belongs to.
fn target_of_temporary(path: &str) -> Option<String> {
    let (folder, name) = path.rsplit_once('/')?;
    let mut parts = name.strip_prefix('.')?.strip_suffix(".new")?.rsplitn(3, '.');
    let is_number = |part: &str| part.parse::<u64>().is_ok();
    let numbers = is_number(parts.next()?) && is_number(parts.next()?);
    let of = parts.next().filter(|_| numbers)?;
    Some(format!("{folder}/{of}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_files_are_known_by_their_exact_names() {
        let own = OwnFiles::of(Path::new("/project"), Path::new("/nowhere"));
        for path in [
            ".claude/state/runs/x/journal.jsonl",
            ".claude/state/runs/x/.journal.jsonl.12.3.new",
            ".claude/state/runs/x/attempts/0001-stage-02/output.log",
            ".claude/state/runs/x/review-12.3.json",
            ".claude/state/squad.json",
            ".claude/state/.squad.json.123.4.new",
            ".claude/logs/superpower.log.1",
        ] {
            assert!(own.has(path), "{path}");
        }
        for path in [
            ".claude/state/x/evil.sh",
            ".claude/state/runs/evil.sh",
            ".claude/state/runs/x/evil.sh",
            ".claude/state/runs/x/y/journal.jsonl",
            ".claude/state/runs/../evil/journal.jsonl",
            ".claude/state/runs/x/attempts/0001-stage-02/evil.sh",
            ".claude/state/runs/x/attempts/evil-stage-02/output.log",
            ".claude/state/runs/x/declaration-.yaml",
            ".claude/state/runs/x/declaration-1.yaml.sh",
            ".claude/state/runs/x/.evil.sh.12.3.new",
            ".claude/state/review.git/evil.sh",
            ".claude/state/squad.json.sh",
            ".claude/state/.squad.json.evil.new",
            ".claude/state/.other.json.123.4.new",
            ".claude/logs/evil.sh",
            ".claude/settings.json",
            "sub/.claude/state/squad.json",
        ] {
            assert!(!own.has(path), "{path}");
        }
    }
}

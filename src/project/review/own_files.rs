//! The plugin's own files in a project, which no review lists. They are known by their exact names, because an agent could
//! write other files beside them.

use std::path::Path;

/// Directories that only the plugin writes to.
const FOLDERS: &[&str] = &[".claude/state/runs/", ".claude/state/review.git/"];
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
        let mut folders: Vec<String> = FOLDERS.iter().map(|folder| (*folder).to_owned()).collect();
        let inner = state.canonicalize().ok();
        if let Some(inner) = inner.as_ref().and_then(|dir| dir.strip_prefix(root).ok()?.to_str()) {
            folders.push(format!("{inner}/"));
        }
        Self { folders }
    }

    /// Whether a file, or a directory that ends in `/`, is ours.
    pub fn has(&self, path: &str) -> bool {
        let inside = self.folders.iter().any(|folder| path.starts_with(folder.as_str()));
        inside || FILES.contains(&path) || is_half_written(path)
    }

    /// The names as lines for git's ignore rules, relative to the project.
    pub fn patterns(&self) -> impl Iterator<Item = &str> {
        self.folders.iter().map(String::as_str).chain(FILES.iter().copied())
    }
}

/// Whether it is the temporary file of one of our files: `.NAME.PID.N.new`.
fn is_half_written(path: &str) -> bool {
    let Some((folder, name)) = path.rsplit_once('/') else { return false };
    let Some(rest) = name.strip_prefix('.').and_then(|rest| rest.strip_suffix(".new")) else { return false };
    let mut parts = rest.rsplitn(3, '.');
    let number = |part: Option<&str>| part.is_some_and(|part| part.parse::<u64>().is_ok());
    let numbers = number(parts.next()) && number(parts.next());
    numbers && parts.next().is_some_and(|of| FILES.contains(&format!("{folder}/{of}").as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_files_are_known_by_their_exact_names() {
        let own = OwnFiles::of(Path::new("/project"), Path::new("/nowhere"));
        for path in [
            ".claude/state/runs/x/journal.jsonl",
            ".claude/state/squad.json",
            ".claude/state/.squad.json.123.4.new",
            ".claude/logs/superpower.log.1",
        ] {
            assert!(own.has(path), "{path}");
        }
        for path in [
            ".claude/state/x/evil.sh",
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

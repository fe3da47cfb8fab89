//! What rules, and what a look has left out, are called in a snapshot and in a list.

/// Where rules stand in a snapshot: a folder of our own, which no list looks into.
pub(super) const FOLDER: &str = ".claude/state/runs/.git-rules/";
/// The settings.
pub(super) const SETTINGS: &str = "git settings";
/// The names of files that are ignored.
pub(super) const IGNORED: &str = "ignored files";
/// The names of folders that are not looked into.
pub(super) const LEFT_OUT: &str = "folders left out";
/// Files in the work tree that are rules.
const NAMES: &[&str] = &[".gitignore", ".gitattributes"];

/// How a line of what is left out begins: a repository that lies too deep.
pub(super) const NESTED: &str = "nested";
/// The same, of another work tree of the repository.
pub(super) const WORK_TREE: &str = "work-tree";
/// There are more ignored files than are looked at.
pub(super) const MANY: &str = "many";

/// Whether a file of the project decides which others are seen, or how.
pub fn is_rule(path: &str) -> bool {
    NAMES.contains(&path.rsplit('/').next().unwrap_or(path))
}

/// The name in a snapshot of what a list calls so.
pub(super) fn inner(name: &str) -> String {
    let coded: String = name.replace('%', "%25").replace('/', "%2F");
    format!("{FOLDER}{coded}")
}

/// What a list calls what has this name in a snapshot; none for a file of the project.
pub(super) fn listed(path: &str) -> Option<String> {
    Some(path.strip_prefix(FOLDER)?.replace("%2F", "/").replace("%25", "%"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_has_one_name_in_a_snapshot_and_gets_it_back() {
        for name in [SETTINGS, ".git/info/exclude", "/home/a%2Fb/ignore", "%"] {
            assert_eq!(listed(&inner(name)).as_deref(), Some(name));
            assert!(!inner(name)[FOLDER.len()..].contains('/'));
        }
        assert_eq!(listed("src/a.rs"), None);
    }
}

//! The names of rules, and of the list of what is left out, in a snapshot and in the user's list.

/// The directory of the rules in a snapshot. It is one of our own, so no list includes its files.
pub(super) const FOLDER: &str = ".claude/state/runs/.git-rules/";
/// Git's settings.
pub(super) const SETTINGS: &str = "git settings";
/// The names of ignored files.
pub(super) const IGNORED: &str = "ignored files";
/// The sizes, modes and times of the ignored files.
pub(super) const STAMPS: &str = "states of ignored files";
/// The names of directories that are not scanned.
pub(super) const LEFT_OUT: &str = "folders left out";
/// Names of files in the work tree that are rules.
const NAMES: &[&str] = &[".gitignore", ".gitattributes"];

/// The first word of a line about what is left out: a repository that is nested too deep.
pub(super) const NESTED: &str = "nested";
/// The same for another work tree of the repository.
pub(super) const WORK_TREE: &str = "work-tree";
/// The prefix of rules that belong to a nested repository.
pub(super) const WITHIN: &str = "within ";
/// The prefix of a line about a file or directory that cannot be read.
pub(super) const UNREAD: &str = "unread";
/// The prefix of a line about a file whose name git refuses.
pub(super) const REFUSED: &str = "refused";
/// The line that says that there are too many ignored files.
pub(super) const MANY: &str = "many";

/// Whether it is only counted, not listed.
pub(super) fn is_count(listed: &str) -> bool {
    [IGNORED, STAMPS, LEFT_OUT].contains(&listed)
}

/// Whether a changed rule may hide files. The settings and hooks of a nested repository do not.
pub(super) fn hides(listed: &str) -> bool {
    !is_count(listed) && !listed.starts_with(WITHIN)
}

/// Escapes a name so that it fits on one line.
pub(super) fn one_line(name: &str) -> String {
    name.replace('\\', "\\\\").replace('\n', "\\n")
}

/// Whether a file of the project decides which other files git lists, or how.
pub fn is_rule(path: &str) -> bool {
    NAMES.contains(&path.rsplit('/').next().unwrap_or(path))
}

/// The name in a snapshot for a name in a list.
pub(super) fn inner(name: &str) -> String {
    let coded: String = name.replace('%', "%25").replace('/', "%2F");
    format!("{FOLDER}{coded}")
}

/// The name in a list for a name in a snapshot; `None` for a file of the project.
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

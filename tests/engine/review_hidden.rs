//! An agent cannot hide a file from the list of changes: changed ignore rules come first in the list, ignored files are
//! included then, and what is left out is counted.

use crate::project::write;
use crate::project_review::{git, open, repo, scratch};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use superpower::project::review::{Review, TreeId};

/// A repository with a first snapshot.
pub struct Place {
    _dir: tempfile::TempDir,
    pub top: PathBuf,
    pub root: PathBuf,
    pub base: TreeId,
}

/// A change to the repository.
type Doing<'a> = &'a dyn Fn(&Place);

impl Place {
    pub fn new() -> Self {
        Self::with(&|_| ())
    }

    /// After something was done to the repository.
    pub fn with(before: &dyn Fn(&Path)) -> Self {
        let (dir, top) = scratch();
        let root = top.join("repo");
        repo(&root);
        write(&root, "price.txt", "price = 100\n");
        write(&root, ".env", "ignored\n");
        write(&root, ".gitignore", "target/\n.env\n*.log\nnode_modules/\n");
        write(&root, "target/old", "x\n");
        git(&root, &["add", "-A"]);
        git(&root, &["commit", "-qm", "y"]);
        before(&root);
        let base = open(&root, &top.join("private")).unwrap().snapshot().unwrap();
        Self { _dir: dir, top, root, base }
    }

    pub fn review(&self) -> Review {
        open(&self.root, &self.top.join("private")).unwrap()
    }

    /// The list, and the sentence that counts what it leaves out.
    pub fn list(&self) -> (Vec<String>, Option<String>) {
        let review = self.review();
        let (now, changes) = review.compare(&self.base, None).unwrap();
        let listed =
            changes.iter().map(|change| format!("{} {}", change.status.sign(), change.path)).collect();
        (listed, review.left_out(&self.base, &now))
    }

    fn git(&self, args: &[&str]) {
        git(&self.root, args);
    }
}

/// Writes a file and restores its modification time.
fn rewrite_in_silence(path: &Path, text: &str) {
    let time = fs::metadata(path).unwrap().modified().unwrap();
    fs::write(path, text).unwrap();
    fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

#[test]
fn what_hides_files_stands_first_and_what_it_hides_is_listed() {
    let kinds: [(&str, Doing, &[&str]); 8] = [
        (
            "exclude",
            &|it| {
                let path = it.root.join(".git/info/exclude");
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, "evil*\n").unwrap();
            },
            &[".git/info/exclude"],
        ),
        (
            "excludesFile",
            &|it| {
                write(&it.root, ".git/x", "evil*\n");
                it.git(&["config", "core.excludesFile", it.root.join(".git/x").to_str().unwrap()]);
            },
            &["git settings", ".git/x"],
        ),
        ("ignore", &|it| write(&it.root, ".gitignore", "target/\n.env\n*.log\nevil*\n"), &[".gitignore"]),
        ("nested ignore", &|it| write(&it.root, "src/.gitignore", "*\n"), &["src/.gitignore"]),
        ("one that ignores itself", &|it| write(&it.root, "hooks/.gitignore", "*\n"), &["hooks/.gitignore"]),
        ("attributes", &|it| write(&it.root, ".gitattributes", "*.sh ident\n"), &[".gitattributes"]),
        (
            "attributes of the repository",
            &|it| write(&it.root, ".git/info/attributes", "* -diff\n"),
            &[".git/info/attributes"],
        ),
        (
            "a hook",
            &|it| write(&it.root, ".git/hooks/pre-commit", "#!/bin/sh\nid\n"),
            &[".git/hooks/pre-commit"],
        ),
    ];
    for (what, hide, first) in kinds {
        let place = Place::new();
        hide(&place);
        for file in ["evil.sh", "src/evil.sh", "hooks/evil.sh", "target/evil.sh", "x.log"] {
            write(&place.root, file, "pwn\n");
        }
        let (listed, left_out) = place.list();
        assert_eq!(left_out, None, "{what}: what is listed is not counted too");
        let heads: Vec<&str> = listed.iter().take(first.len()).map(|line| &line[2..]).collect();
        let (mut heads, mut wanted) = (heads, first.to_vec());
        heads.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(heads, wanted, "{what}: {listed:#?}");
        for file in ["evil.sh", "src/evil.sh", "hooks/evil.sh", "target/evil.sh", "x.log", ".env"] {
            assert!(listed.contains(&format!("+ {file}")), "{what}: {file} is not in {listed:#?}");
        }
        // After an approval of this list the next list is empty.
        let review = place.review();
        let (shown, _) = review.compare(&place.base, None).unwrap();
        let (_, again) = review.compare(&shown, None).unwrap();
        assert_eq!(again, [], "{what}");
    }
}

#[test]
fn a_change_that_sets_the_time_back_is_seen_whatever_the_settings_say() {
    for settings in [&[][..], &[("core.trustctime", "false"), ("core.checkStat", "minimal")]] {
        let place = Place::new();
        for (key, value) in settings {
            place.git(&["config", key, value]);
        }
        // The file must be older than the index, because git reads newer files anyway.
        std::thread::sleep(std::time::Duration::from_millis(1100));
        place.review().snapshot().unwrap();
        rewrite_in_silence(&place.root.join("price.txt"), "price = 999\n");
        let (listed, _) = place.list();
        assert!(listed.contains(&"~ price.txt".to_owned()), "{settings:?}: {listed:?}");
    }
}

#[test]
fn a_mode_is_seen_although_the_settings_say_not_to_look() {
    let place = Place::new();
    place.git(&["config", "core.fileMode", "false"]);
    fs::set_permissions(place.root.join("price.txt"), fs::Permissions::from_mode(0o755)).unwrap();
    let (listed, _) = place.list();
    assert_eq!(listed.first().map(String::as_str), Some("~ git settings"), "{listed:?}");
    let text = place.review().before(&place.base, "git settings").unwrap().unwrap();
    assert!(text.contains("core.filemode=true"), "{text}");
}

#[test]
fn a_folder_that_only_says_that_it_is_another_work_tree_is_looked_into() {
    for pointer in
        ["gitdir: ../.git\n", "gitdir: ../.git/worktrees/tree\n", "gitdir: /nonexistent\n", "rubbish"]
    {
        let place = Place::new();
        place.git(&["worktree", "add", "-q", "tree"]);
        write(&place.root, "lib/.git", pointer);
        write(&place.root, "lib/evil.sh", "pwn\n");
        write(&place.root, "tree/other.sh", "another place\n");
        let (listed, left_out) = place.list();
        assert!(listed.contains(&"+ lib/evil.sh".to_owned()), "{pointer}: {listed:?}");
        assert!(!listed.iter().any(|line| line.contains("tree/")), "{listed:?}");
        assert_eq!(left_out.as_deref(), Some("not listed: 1 other work tree (tree)"), "{pointer}");
    }
}

#[test]
fn nested_repositories_are_looked_into_and_what_lies_deeper_is_counted() {
    let place = Place::new();
    let mut folder = String::new();
    for name in ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"] {
        folder = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
        fs::create_dir_all(place.root.join(&folder)).unwrap();
        place.git(&["init", "-q", &folder]);
        git(&place.root.join(&folder), &["commit", "-q", "--allow-empty", "-m", "x"]);
        write(&place.root, &format!("{folder}/evil.sh"), "pwn\n");
    }
    let (listed, left_out) = place.list();
    for path in ["a/evil.sh", "a/b/c/d/e/evil.sh", "a/b/evil.sh"] {
        assert!(listed.contains(&format!("+ {path}")), "{path}: {listed:#?}");
    }
    let left_out = left_out.unwrap();
    assert!(left_out.contains("1 nested repository (a/b/c/d/e/f/g/h/i)"), "{left_out} {listed:#?}");
}

#[test]
fn a_nested_repository_hides_nothing_by_a_rule_that_ignores_itself() {
    let place = Place::new();
    place.git(&["init", "-q", "nested"]);
    git(&place.root.join("nested"), &["commit", "-q", "--allow-empty", "-m", "x"]);
    write(&place.root, "nested/.gitignore", "*\n");
    write(&place.root, "nested/evil.sh", "pwn\n");
    write(&place.root, "nested/deep/evil.sh", "pwn\n");
    let (listed, _) = place.list();
    assert_eq!(listed[0], "+ nested/.gitignore", "{listed:#?}");
    for path in ["nested/evil.sh", "nested/deep/evil.sh"] {
        assert!(listed.contains(&format!("+ {path}")), "{path}: {listed:#?}");
    }
}

#[test]
fn new_ignored_files_are_counted_and_old_ones_are_not() {
    let place = Place::new();
    assert_eq!(place.list(), (vec![], None));
    write(&place.root, "target/new", "x\n");
    write(&place.root, "node_modules/x/.gitignore", "*\n");
    write(&place.root, "node_modules/x/index.js", "x\n");
    write(&place.root, "a.log", "x\n");
    let (listed, left_out) = place.list();
    assert_eq!(listed, Vec::<String>::new(), "a rule in an ignored folder rules nothing");
    let counted =
        "not listed: 4 new ignored files (a.log, node_modules/x/.gitignore, node_modules/x/index.js, …)";
    assert_eq!(left_out.as_deref(), Some(counted));
}

#[test]
fn only_our_own_files_are_left_out_of_the_folders_that_we_share() {
    let place = Place::new();
    for ours in
        [".claude/state/squad.json", ".claude/state/runs/x/journal.jsonl", ".claude/logs/superpower.log"]
    {
        write(&place.root, ours, "x\n");
    }
    for theirs in [".claude/state/x/evil.sh", ".claude/state/squad.json.sh", ".claude/logs/evil.sh"] {
        write(&place.root, theirs, "x\n");
    }
    let (listed, _) = place.list();
    assert_eq!(
        listed,
        ["+ .claude/logs/evil.sh", "+ .claude/state/squad.json.sh", "+ .claude/state/x/evil.sh"]
    );
    // Our own ignore file hides them, so they are counted.
    let place = Place::new();
    for folder in ["state", "logs"] {
        write(&place.root, &format!(".claude/{folder}/.gitignore"), "*\n");
        write(&place.root, &format!(".claude/{folder}/evil.sh"), "x\n");
    }
    let counted = "not listed: 2 new ignored files (.claude/logs/evil.sh, .claude/state/evil.sh)";
    assert_eq!(place.list(), (vec![], Some(counted.to_owned())));
}

/// The baseline is in our own store, so it survives changes to the user's repository. For a text that only that repository
/// had, the diff says that it is gone.
#[test]
fn a_list_stands_whatever_becomes_of_the_users_repository() {
    let ends: [(&str, Doing); 4] = [
        ("gone", &|it| fs::remove_dir_all(it.root.join(".git")).unwrap()),
        ("amended, and collected", &|it| {
            it.git(&["checkout", "-q", "--orphan", "other"]);
            it.git(&["rm", "-rqf", "--cached", "src"]);
            it.git(&["commit", "-qm", "all new"]);
            it.git(&["branch", "-qD", "main"]);
            it.git(&["reflog", "expire", "--expire=now", "--all"]);
            it.git(&["gc", "-q", "--prune=now"]);
        }),
        ("another one", &|it| {
            fs::remove_dir_all(it.root.join(".git")).unwrap();
            it.git(&["init", "-q"]);
        }),
        ("one with long ids", &|it| {
            fs::remove_dir_all(it.root.join(".git")).unwrap();
            it.git(&["init", "-q", "--object-format=sha256"]);
        }),
    ];
    for (what, end) in ends {
        let place = Place::new();
        write(&place.root, "src/b.rs", "b\nb\n");
        end(&place);
        let review = place.review();
        let (now, changes) = review.compare(&place.base, None).unwrap();
        let change = changes.iter().find(|change| change.path == "src/b.rs");
        let change = change.unwrap_or_else(|| panic!("{what}: {changes:#?}"));
        assert_eq!((change.added, change.removed), (None, None), "{what}: it cannot be told");
        assert!(!changes.iter().any(|change| change.path == "src/a.rs"), "{what}: the same as before");
        let error = review.before(&place.base, "src/b.rs").unwrap_err().to_string();
        assert!(error.contains("not kept any more"), "{what}: {error}");
        assert_eq!(review.before(&now, "src/b.rs").unwrap().as_deref(), Some("b\nb\n"), "{what}");
        write(&place.root, "src/b.rs", "b\nb\nb\n");
        let later = review.snapshot().unwrap();
        let changes = review.changes(&now, &later).unwrap();
        assert_eq!((changes.len(), changes[0].added), (1, Some(1)), "{what}: what we keep can be told");
    }
}

#[test]
fn a_partial_clone_fetches_nothing_and_its_list_stands() {
    let (_dir, top) = scratch();
    let (origin, root) = (top.join("origin"), top.join("repo"));
    repo(&origin);
    git(&origin, &["config", "uploadpack.allowFilter", "true"]);
    write(&origin, "src/b.rs", "newer\n");
    git(&origin, &["commit", "-qam", "z"]);
    let from = format!("file://{}", origin.display());
    git(&top, &["clone", "-q", "--depth=1", "--filter=blob:none", &from, "repo"]);
    let review = open(&root, &top.join("private")).unwrap();
    let base = review.snapshot().unwrap();
    // From here on git cannot fetch objects.
    fs::remove_dir_all(&origin).unwrap();
    write(&root, "src/b.rs", "b\nb\n");
    let (_, changes) = review.compare(&base, None).unwrap();
    assert_eq!(changes.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), ["src/b.rs"]);
}

/// Trees are pruned like other objects, so the store does not grow without limit.
#[test]
fn what_no_run_needs_is_thrown_away_with_its_trees() {
    let place = Place::new();
    let review = place.review();
    for n in 0..20 {
        write(&place.root, &format!("dir{n}/file"), &format!("{n}\n"));
        review.snapshot().unwrap();
    }
    let kept = review.snapshot().unwrap();
    review.prune(0, || vec![vec![kept.clone()]]).unwrap();
    let (now, changes) = review.compare(&kept, None).unwrap();
    assert_eq!((now, changes.len()), (kept.clone(), 0));
    assert!(review.changes(&place.base, &kept).is_err(), "the one before went");
    let trees = Command::new("sh")
        .arg("-c")
        .arg("find . -path './*review.git/trees/??/*' | wc -l")
        .current_dir(top_of(&place))
        .output()
        .unwrap();
    let left: usize = String::from_utf8_lossy(&trees.stdout).trim().parse().unwrap();
    assert!(left > 0 && left < 40, "{left}");
}

fn top_of(place: &Place) -> PathBuf {
    place.top.join("private")
}

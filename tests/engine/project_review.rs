//! The gate's list of changes, and that making it changes nothing of the user's.

use crate::project::write;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use superpower::project::review::{Review, ReviewDir, ReviewError, TreeId};
use superpower::store::state::State;

pub fn scratch() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let real = dir.path().canonicalize().unwrap();
    (dir, real)
}

/// Opens the review with our state in `state`.
pub fn open(root: &Path, state: &Path) -> Result<Review, ReviewError> {
    Review::open(root, &State::at(Some(state)).unwrap())
}

pub fn git(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@t",
            "-c",
            "commit.gpgsign=false",
            "-c",
            "protocol.file.allow=always",
        ])
        .args(args)
        .current_dir(dir)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn repo(root: &Path) {
    fs::create_dir_all(root).unwrap();
    git(root, &["init", "-q", "-b", "main"]);
    write(root, "src/a.rs", "one\ntwo\nthree\n");
    write(root, "src/b.rs", "b\n");
    write(root, ".gitignore", "target/\n");
    git(root, &["add", "-A"]);
    git(root, &["commit", "-qm", "x"]);
}

pub fn told(review: &Review, from: &TreeId) -> Vec<String> {
    let now = review.snapshot().unwrap();
    let number = |n: Option<u64>| n.map_or("?".to_owned(), |n| n.to_string());
    let changes = review.changes(from, &now).unwrap();
    changes
        .iter()
        .map(|c| {
            let status = serde_json::to_value(c.status).unwrap();
            format!("{} {} +{} -{}", status.as_str().unwrap(), c.path, number(c.added), number(c.removed))
        })
        .collect()
}

/// Everything in the git directory and what `git status` says.
fn state_of_git(root: &Path) -> (Vec<(PathBuf, Vec<u8>)>, String) {
    fn all(dir: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
        for entry in fs::read_dir(dir).unwrap().flatten() {
            match entry.file_type().unwrap().is_dir() {
                true => all(&entry.path(), found),
                false => found.push((entry.path(), fs::read(entry.path()).unwrap())),
            }
        }
    }
    let mut found = Vec::new();
    all(&root.join(".git"), &mut found);
    found.sort();
    let status = Command::new("git")
        .args(["--no-optional-locks", "status", "--porcelain=v2", "--untracked-files=all"])
        .current_dir(root)
        .output()
        .unwrap();
    (found, String::from_utf8_lossy(&status.stdout).into_owned())
}

#[test]
fn created_changed_and_deleted_files_are_told_with_their_lines() {
    let (_dir, top) = scratch();
    let root = top.join("repo");
    repo(&root);
    write(&root, "notes.txt", "mine\n");
    write(&root, ".claude/state/squad.json", "{}");
    let review = open(&root, &root.join(".claude/state/runs/1/review")).unwrap();
    let base = review.snapshot().unwrap();
    assert_eq!(told(&review, &base), [""; 0]);
    write(&root, "src/a.rs", "one\n2\nthree\nfour\n");
    write(&root, "docs/new ö.md", "a\nb\n");
    write(&root, "target/out", "ignored");
    write(&root, "picture.bin", "\0\u{1}");
    write(&root, ".claude/state/squad.json", "{\"x\":1}");
    write(&root, ".claude/logs/superpower.log", "line");
    write(&root, "notes.txt", "mine\nmore\n");
    fs::remove_file(root.join("src/b.rs")).unwrap();
    assert_eq!(
        told(&review, &base),
        [
            "+ docs/new ö.md +2 -0",
            "~ notes.txt +1 -0",
            "+ picture.bin +? -?",
            "~ src/a.rs +2 -1",
            "- src/b.rs +0 -1"
        ]
    );
    assert_eq!(review.before(&base, "src/a.rs").unwrap().as_deref(), Some("one\ntwo\nthree\n"));
    assert_eq!(review.before(&base, "docs/new ö.md").unwrap(), None);
    let now = review.snapshot().unwrap();
    assert_eq!(review.before(&now, "picture.bin").unwrap(), None);
    assert_eq!(review.before(&now, "docs").unwrap(), None);
    // Another editor, later, with the same private directory.
    let again = open(&root, &root.join(".claude/state/runs/1/review")).unwrap();
    assert_eq!(again.snapshot().unwrap(), now);
    assert_eq!(TreeId::parse(now.as_str()), Some(now));
    assert_eq!(TreeId::parse("--all"), None);
}

#[test]
fn the_users_repository_stays_byte_for_byte_as_it_was() {
    let (_dir, top) = scratch();
    let root = top.join("repo");
    repo(&root);
    write(&root, "staged.txt", "staged\n");
    git(&root, &["add", "staged.txt"]);
    write(&root, "staged.txt", "staged\nand more\n");
    write(&root, "untracked.txt", "u\n");
    write(&root, ".git/hooks/post-index-change", "#!/bin/sh\ntouch ../hooked\n");
    let _ = Command::new("chmod").arg("+x").arg(root.join(".git/hooks/post-index-change")).status();
    let before = state_of_git(&root);
    let review = open(&root, &top.join("private")).unwrap();
    let base = review.snapshot().unwrap();
    write(&root, "untracked.txt", "u\nv\n");
    assert_eq!(told(&review, &base), ["~ untracked.txt +1 -0"]);
    assert_eq!(review.before(&base, "staged.txt").unwrap().as_deref(), Some("staged\nand more\n"));
    write(&root, "untracked.txt", "u\n");
    assert_eq!(told(&review, &base), [""; 0]);
    assert_eq!(state_of_git(&root), before);
    assert!(!top.join("hooked").exists());
}

#[test]
fn a_project_without_git_and_one_below_a_repository_work_too() {
    let (_dir, top) = scratch();
    let bare = top.join("bare");
    write(&bare, "a.txt", "1\n");
    write(&bare, "node_modules/x/index.js", "1\n");
    let review = open(&bare, &top.join("p1")).unwrap();
    let base = review.snapshot().unwrap();
    write(&bare, "a.txt", "1\n2\n");
    write(&bare, "node_modules/x/index.js", "2\n");
    assert_eq!(told(&review, &base), ["~ a.txt +1 -0"]);

    let mono = top.join("mono");
    repo(&mono);
    fs::create_dir_all(mono.join("pkg/.claude")).unwrap();
    let review = open(&mono.join("pkg"), &mono.join("pkg/.claude/state/r")).unwrap();
    let base = review.snapshot().unwrap();
    write(&mono, "src/a.rs", "outside of the project\n");
    write(&mono, "pkg/src/x.rs", "x\n");
    write(&mono, "pkg/.claude/state/squad.json", "x\n");
    write(&mono, "pkg/.claude/state/mine", "x\n");
    write(&mono, "pkg/target/out", "x\n");
    assert_eq!(told(&review, &base), ["+ .claude/state/mine +1 -0", "+ src/x.rs +1 -0"]);
    let now = review.snapshot().unwrap();
    assert_eq!(review.before(&now, "src/x.rs").unwrap().as_deref(), Some("x\n"));
}

#[test]
fn a_project_in_a_folder_that_an_outer_repository_ignores_stands_for_itself() {
    let (_dir, top) = scratch();
    let mono = top.join("mono");
    repo(&mono);
    write(&mono, "target/shop/a.txt", "1\n");
    let root = mono.join("target/shop");
    let review = open(&root, &root.join(".claude/state/r")).unwrap();
    let base = review.snapshot().unwrap();
    write(&root, "a.txt", "2\n");
    assert_eq!(told(&review, &base), ["~ a.txt +1 -1"]);
}

#[test]
fn a_repository_that_moves_comes_or_goes_is_followed() {
    let (_dir, top) = scratch();
    let (old, root) = (top.join("old"), top.join("repo"));
    repo(&old);
    let private = |root: &Path| root.join(".claude/state/review");
    let elsewhere = open(&old, &private(&old)).unwrap().snapshot().unwrap();
    fs::rename(&old, &root).unwrap();
    let review = open(&root, &private(&root)).unwrap();
    let base = review.snapshot().unwrap();
    assert!(
        matches!(review.changes(&elsewhere, &base), Err(ReviewError::Gone)) || elsewhere == base,
        "trees are ours, and kept by place"
    );
    write(&root, "src/b.rs", "bb\n");
    assert_eq!(told(&review, &base), ["~ src/b.rs +1 -1"]);
    // An index that a crash has damaged.
    let ours = ReviewDir::of(&State::at(Some(&private(&root))).unwrap(), &root).git();
    fs::write(ours.join("index"), "DIRC").unwrap();
    assert_eq!(told(&review, &base), ["~ src/b.rs +1 -1"]);

    let plain = top.join("plain");
    write(&plain, "a", "1\n");
    let base = open(&plain, &private(&plain)).unwrap().snapshot().unwrap();
    git(&plain, &["init", "-q"]);
    git(&plain, &["add", "a"]);
    git(&plain, &["commit", "-qm", "x"]);
    write(&plain, "a", "2\n");
    let review = open(&plain, &private(&plain)).unwrap();
    assert_eq!(told(&review, &base), ["~ a +1 -1"]);
    let base = review.snapshot().unwrap();
    fs::remove_dir_all(plain.join(".git")).unwrap();
    write(&plain, "b", "1\n");
    let review = open(&plain, &private(&plain)).unwrap();
    assert_eq!(told(&review, &base), ["+ b +1 -0"]);
}

#[test]
fn nested_repositories_and_submodules_are_looked_into() {
    let (_dir, top) = scratch();
    let (root, other) = (top.join("repo"), top.join("other"));
    repo(&root);
    repo(&other);
    git(&root, &["submodule", "--quiet", "add", other.to_str().unwrap(), "sub"]);
    git(&root, &["commit", "-qm", "sub"]);
    repo(&root.join("nested"));
    fs::create_dir_all(root.join("unborn")).unwrap();
    git(&root.join("unborn"), &["init", "-q"]);
    git(&root, &["worktree", "add", "-q", "tree"]);
    let review = open(&root, &top.join("private")).unwrap();
    let base = review.snapshot().unwrap();
    write(&root, "sub/src/a.rs", "one\n");
    write(&root, "nested/src/b.rs", "b\nb\n");
    write(&root, "nested/target/out", "ignored there\n");
    write(&root, "unborn/first", "1\n");
    write(&root, "tree/src/b.rs", "another work tree\n");
    assert_eq!(
        told(&review, &base),
        ["~ nested/src/b.rs +1 -0", "~ sub/src/a.rs +0 -2", "+ unborn/first +1 -0"]
    );
    git(&root.join("nested"), &["add", "-A"]);
    git(&root.join("nested"), &["commit", "-qm", "y"]);
    assert_eq!(
        told(&review, &base),
        ["~ nested/src/b.rs +1 -0", "~ sub/src/a.rs +0 -2", "+ unborn/first +1 -0"]
    );
}

#[test]
fn flags_conflicts_and_changes_of_kind_hide_nothing() {
    let (_dir, top) = scratch();
    let root = top.join("repo");
    repo(&root);
    git(&root, &["update-index", "--assume-unchanged", "src/a.rs"]);
    git(&root, &["update-index", "--skip-worktree", "src/b.rs"]);
    write(&root, "dir/file", "x\n");
    write(&root, "file", "x\n");
    write(&root, "odd\nname", "x\n");
    let review = open(&root, &top.join("private")).unwrap();
    let base = review.snapshot().unwrap();
    write(&root, "src/a.rs", "a\n");
    write(&root, "src/b.rs", "bb\n");
    fs::remove_dir_all(root.join("dir")).unwrap();
    symlink("src", root.join("dir")).unwrap();
    fs::remove_file(root.join("file")).unwrap();
    write(&root, "file/inner", "x\n");
    fs::remove_file(root.join("odd\nname")).unwrap();
    assert_eq!(
        told(&review, &base),
        [
            "+ dir +1 -0",
            "- dir/file +0 -1",
            "- file +0 -1",
            "+ file/inner +1 -0",
            "- odd\nname +0 -1",
            "~ src/a.rs +1 -3",
            "~ src/b.rs +1 -1"
        ]
    );
}

#[test]
fn a_merge_conflict_and_a_split_index_are_no_hindrance() {
    let (_dir, top) = scratch();
    let root = top.join("repo");
    repo(&root);
    git(&root, &["checkout", "-qb", "side"]);
    write(&root, "src/b.rs", "side\n");
    git(&root, &["commit", "-qam", "side"]);
    git(&root, &["checkout", "-q", "main"]);
    write(&root, "src/b.rs", "main\n");
    git(&root, &["commit", "-qam", "main"]);
    git(&root, &["update-index", "--split-index"]);
    let merged = Command::new("git").args(["merge", "-q", "side"]).current_dir(&root).output().unwrap();
    assert!(!merged.status.success());
    let before = state_of_git(&root);
    let review = open(&root, &top.join("private")).unwrap();
    let base = review.snapshot().unwrap();
    write(&root, "src/b.rs", "both\n");
    let changes = told(&review, &base);
    assert_eq!(changes.len(), 1);
    assert!(changes[0].starts_with("~ src/b.rs +1 -"), "{changes:?}");
    assert_eq!(state_of_git(&root).0, before.0);
}

#[test]
fn repositories_with_long_ids_work() {
    let (_dir, top) = scratch();
    let root = top.join("repo");
    fs::create_dir_all(&root).unwrap();
    git(&root, &["init", "-q", "--object-format=sha256"]);
    write(&root, "a", "1\n");
    git(&root, &["add", "-A"]);
    git(&root, &["commit", "-qm", "x"]);
    let review = open(&root, &top.join("private")).unwrap();
    let base = review.snapshot().unwrap();
    fs::remove_file(root.join("a")).unwrap();
    assert_eq!(told(&review, &base), ["- a +0 -1"]);
}

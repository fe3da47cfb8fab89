//! The gate's list of changes with malicious repositories and faulty machines.

use crate::alone::alone;
use crate::project::write;
use crate::project_review::{git, open, repo, scratch, told};
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

#[test]
fn filters_that_attributes_name_are_not_run_and_large_files_not_kept() {
    let (_dir, top) = scratch();
    let root = top.join("repo");
    repo(&root);
    git(&root, &["config", "filter.evil.clean", "touch ../filtered; cat"]);
    git(&root, &["config", "core.fsmonitor", "touch ../monitored"]);
    write(&root, ".gitattributes", "*.x filter=evil\n");
    write(&root, "a.x", "1\n");
    let review = open(&root, &top.join("private")).unwrap();
    let base = review.snapshot().unwrap();
    write(&root, "a.x", "2\n");
    let large = fs::File::create(root.join("large")).unwrap();
    large.set_len(9 * 1024 * 1024).unwrap();
    assert_eq!(told(&review, &base), ["~ a.x +1 -1", "+ large +? -?"]);
    let with_large = review.snapshot().unwrap();
    assert_eq!(review.snapshot().unwrap(), with_large);
    large.set_len(9 * 1024 * 1024 + 1).unwrap();
    assert_eq!(told(&review, &with_large), ["~ large +? -?"]);
    assert!(!top.join("filtered").exists() && !top.join("monitored").exists());
}

#[test]
fn without_git_a_note_says_so() {
    alone("project_review_hostile::without_git_a_note_says_so", &[("PATH", "/nonexistent")], || {
        let (_dir, top) = scratch();
        write(&top, "repo/a", "");
        let note = open(&top.join("repo"), &top.join("private")).unwrap_err().to_string();
        assert_eq!(
            note,
            "changed files are not listed, because the program \"git\" was not found; install git"
        );
    });
}

#[test]
fn settings_in_the_environment_change_nothing() {
    let settings = [
        ("GIT_DIR", "/nonexistent"),
        ("GIT_INDEX_FILE", "/nonexistent/index"),
        ("GIT_WORK_TREE", "/"),
        ("GIT_EXTERNAL_DIFF", "false"),
        ("GIT_CONFIG_COUNT", "x"),
    ];
    alone("project_review_hostile::settings_in_the_environment_change_nothing", &settings, || {
        let (_dir, top) = scratch();
        let root = top.join("repo");
        write(&root, "a", "1\n");
        let review = open(&root, &top.join("private")).unwrap();
        let base = review.snapshot().unwrap();
        write(&root, "a", "2\n");
        assert_eq!(told(&review, &base), ["~ a +1 -1"]);
    });
}

#[test]
fn a_git_directory_that_a_repository_brought_along_runs_nothing_and_writes_nowhere() {
    let (_dir, top) = scratch();
    let root = top.join("repo");
    repo(&root);
    let private = root.join(".claude/state/review.git");
    fs::create_dir_all(private.parent().unwrap()).unwrap();
    git(&root, &["init", "-q", "--bare", private.to_str().unwrap()]);
    let evil = format!("touch {}/ran; cat", top.display());
    for key in
        ["filter.evil.clean", "core.fsmonitor", "diff.evil.textconv", "diff.external", "core.sshCommand"]
    {
        git(&private, &["config", key, &evil]);
    }
    write(&private, "hooks/post-index-change", &format!("#!/bin/sh\n{evil}\n"));
    Command::new("chmod").arg("+x").arg(private.join("hooks/post-index-change")).status().unwrap();
    write(&private, "info/attributes", "* filter=evil diff=evil\n");
    write(&root, ".gitattributes", "* filter=evil diff=evil\n");
    let planted = || Command::new("tar").arg("-cC").arg(&root).arg(".claude").output().unwrap().stdout;
    let before = planted();
    let ours = top.join("state");
    let review = open(&root, &ours).unwrap();
    let base = review.snapshot().unwrap();
    write(&root, "src/b.rs", "bb\n");
    assert_eq!(told(&review, &base), ["~ src/b.rs +1 -1"]);
    assert_eq!(planted(), before, "it is left alone");

    write(&top, "elsewhere/config", &format!("[filter \"evil\"]\n\tclean = {evil}\n"));
    write(&private, "commondir", &format!("{}/elsewhere\n", top.display()));
    write(&root, "src/b.rs", "bbb\n");
    // That folder is nobody's any more: what is new in it is listed.
    let listed = ["+ .claude/state/review.git/commondir +1 -0", "~ src/b.rs +1 -1"];
    assert_eq!(told(&open(&root, &ours).unwrap(), &base), listed);

    write(&top, "precious", "mine\n");
    fs::create_dir_all(private.join("info")).unwrap();
    let _ = fs::remove_file(private.join("info/exclude"));
    symlink(top.join("precious"), private.join("info/exclude")).unwrap();
    open(&root, &ours).unwrap().snapshot().unwrap();
    assert_eq!(fs::read_to_string(top.join("precious")).unwrap(), "mine\n");
    assert!(!top.join("ran").exists());

    fs::remove_dir_all(root.join(".claude/state")).unwrap();
    symlink(top.join("elsewhere"), root.join(".claude/state")).unwrap();
    open(&root, &ours).unwrap().snapshot().unwrap();
    let names = fs::read_dir(top.join("elsewhere")).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["config"], "nothing was made there");
    assert!(!top.join("ran").exists());
}

/// Files of the user's git directory are read without blocking and up to a size limit.
#[test]
fn pipes_in_the_users_git_directory_are_not_waited_for() {
    let (_dir, top) = scratch();
    let root = top.join("repo");
    repo(&root);
    let pipe = |name: &str| {
        let _ = fs::remove_file(root.join(name));
        assert!(Command::new("mkfifo").arg(root.join(name)).status().unwrap().success());
    };
    for name in ["index", "info/exclude", "sharedindex.1234"] {
        pipe(&format!(".git/{name}"));
    }
    let review = open(&root, &top.join("state")).unwrap();
    let base = review.snapshot().unwrap();
    write(&root, "src/b.rs", "bb\n");
    assert_eq!(told(&review, &base), ["~ src/b.rs +1 -1"]);
}

#[test]
fn a_pipe_that_git_itself_opens_is_named_and_not_waited_for() {
    let (_dir, top) = scratch();
    let places = [
        ".git/HEAD",
        ".git/config",
        ".git/commondir",
        ".git/objects/info/alternates",
        ".gitignore",
        ".gitattributes",
        "src/.gitignore",
        "new/.git/HEAD",
    ];
    std::thread::scope(|scope| {
        for (at, name) in places.into_iter().enumerate() {
            let top = &top;
            scope.spawn(move || {
                let root = top.join(format!("repo-{at}"));
                repo(&root);
                if name.starts_with("new/") {
                    for part in ["new/.git/config", "new/.git/objects/x", "new/.git/refs/x", "new/a"] {
                        write(&root, part, "");
                    }
                }
                // git reads attributes and looks for objects because of this.
                write(&root, "src/b.rs", "another\n");
                let _ = fs::remove_file(root.join(name));
                assert!(Command::new("mkfifo").arg(root.join(name)).status().unwrap().success());
                // Another pipe, which git does not open, and a socket, as git makes one.
                assert!(Command::new("mkfifo").arg(root.join("pipe")).status().unwrap().success());
                let made = std::os::unix::net::UnixListener::bind(top.join(at.to_string())).unwrap();
                fs::rename(top.join(at.to_string()), root.join(".git/a-socket")).unwrap();
                let looked =
                    open(&root, &top.join(format!("state-{at}"))).and_then(|review| review.snapshot());
                drop(made);
                let error = looked.map_or_else(|error| error.to_string(), |_| "nothing".to_owned());
                let named = root.join(name).display().to_string();
                assert!(error.contains(&format!("git waits for \"{named}\"")), "{name}: {error}");
            });
        }
    });
}

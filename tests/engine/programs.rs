//! Programs, including `git`, are searched only in absolute entries of `PATH` outside of the project.

use crate::child::child;
use crate::project::write;
use crate::project_review::scratch;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

fn program(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A project that contains programs, and the user's own programs.
fn project(top: &Path) -> PathBuf {
    let root = top.join("project");
    write(&root, "a.txt", "1\n");
    for place in ["", "node_modules/.bin"] {
        for name in ["git", "claude", "opencode", "helper"] {
            program(&root.join(place).join(name), &format!("echo $0 >> '{}/ran'; exit 1", top.display()));
        }
    }
    let git = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|place| place.join("git"))
        .find(|path| path.is_file());
    // Wrappers of version managers search `PATH` for other programs.
    program(&top.join("bin/git"), &format!("helper && exec '{}' \"$@\"", git.unwrap().display()));
    for name in ["helper", "claude"] {
        program(&top.join("bin").join(name), "exit 0");
    }
    symlink(root.join("node_modules/.bin"), top.join("link")).unwrap();
    root
}

fn said(top: &Path, root: &Path, path: &str) -> Value {
    let status = child("programs").arg(root).env("PATH", path).current_dir(root).output().unwrap();
    assert!(status.status.success(), "{status:?}");
    serde_json::from_str(&fs::read_to_string(top.join("said")).unwrap()).unwrap()
}

#[test]
fn what_a_project_brings_along_is_not_started() {
    let (_dir, top) = scratch();
    let root = project(&top);
    let (below, link) = (root.join("node_modules/.bin"), top.join("link"));
    let around = top.join("bin/../project/node_modules/.bin");
    let places = ["./node_modules/.bin", "node_modules/.bin", "", ".", "..//project"].map(str::to_owned);
    let places =
        places.into_iter().chain([below, link, around, root.clone()].map(|p| p.display().to_string()));
    for place in places {
        let own = top.join("bin").display().to_string();
        let found = said(&top, &root, &format!("{place}:{own}:/usr/bin:/bin"));
        assert_eq!(found["review"], "", "{place}: {found}");
        let claude = top.join("bin/claude");
        assert_eq!(found["claude"]["program"], json!(claude), "{place}: {found}");
        assert_eq!(found["auto"]["program"], json!(claude), "{place}: {found}");

        let missing = said(&top, &root, &place);
        let left_out = format!(
            "(not looked for in \"{place}\": PATH entries that are relative or in the project are left out)"
        );
        assert_eq!(
            missing["review"].as_str().unwrap(),
            format!(
                "changed files are not listed, because the program \"git\" was not found {left_out}; install git"
            )
        );
        let message = missing["claude"]["message"].as_str().unwrap();
        assert!(
            message.contains(&format!("needs the program \"claude\", which is not found {left_out}; set ")),
            "{message}"
        );
        assert_eq!(missing["auto"]["program"], Value::Null, "by hand");
        assert!(!top.join("ran").exists(), "{place}");
    }
}

#[test]
fn a_path_that_the_user_configured_is_their_word_where_it_is_absolute() {
    let (_dir, top) = scratch();
    let root = project(&top);
    let found = said(&top, &root, "/usr/bin:/bin");
    assert_eq!(found["mine"]["program"], json!(root.join("git")));
    for name in ["relative", "below"] {
        let message = found[name]["message"].as_str().unwrap();
        assert!(message.contains("a path must be absolute"), "{message}");
    }
}

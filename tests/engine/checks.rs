//! Checking on request: which paths are superpower files, and a whole project including unsaved buffers.

use crate::world::World;
use serde_json::{Value, json};
use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

const STAGES: &str = "stages:\n  - agent: a\n    gate: human-approval\n";

fn codes(faults: &Value) -> Vec<String> {
    let all = faults.as_array().unwrap_or_else(|| panic!("{faults:#}"));
    all.iter().map(|fault| fault["code"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_is_no_file_or_too_large_is_said_and_never_read() {
    let world = World::new();
    world.write(".claude/agents/a.md", "---\nname: a\n---\n");
    let said = |path: &Path| {
        let faults = world.ok("check", json!({ "path": path }))["diagnostics"].clone();
        assert_eq!(faults.as_array().unwrap().len(), 1, "{faults:#}");
        let fault = &faults[0];
        (fault["code"].as_str().unwrap().to_owned(), fault["message"].as_str().unwrap().to_owned())
    };
    let none = ("yaml-syntax".to_owned(), "not a regular file; it was not read".to_owned());
    assert_eq!(said(Path::new("/dev/zero")), none);
    let pipe = world.path("pipe.yaml");
    let name = CString::new(pipe.as_os_str().as_bytes()).unwrap();
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    assert_eq!(said(&pipe), none);
    let directory = "expected a file, found a directory".to_owned();
    assert_eq!(said(&world.path(".claude")), ("yaml-syntax".to_owned(), directory));

    let large = world.path(".claude/superpowers/large.yaml");
    fs::File::create(&large).unwrap().set_len(1 << 40).unwrap();
    let words = "the file is too large: 1099511627776 bytes (at most 1048576)".to_owned();
    assert_eq!(said(&large), ("limit".to_owned(), words.clone()));
    let listed = world.ok("list", json!({}));
    assert_eq!((&listed[0]["name"], &listed[0]["errors"]), (&json!("large"), &json!(1)));
    let refused = world.refused("run", json!({ "name": "large", "inputs": {} }), "invalid-declaration");
    assert!(refused.contains(&words), "{refused}");
    world.refused("check", json!({ "path": world.path("nothing.yaml") }), "disk");
}

#[test]
fn a_project_is_checked_with_the_texts_that_are_not_saved_yet() {
    let world = World::new();
    world.write(".claude/agents/a.md", "---\nname: a\n---\n");
    world.declare("fine", STAGES);
    world.declare("wrong", &STAGES.replace("human-approval", "humn-approval"));
    let head = |name: &str| format!("name: {name}\ndescription: d\nversion: \"1\"\n");
    let all = |fields: Value| -> Vec<(String, Vec<String>)> {
        let files = world.ok("check-all", fields)["files"].clone();
        let files = files.as_array().unwrap().clone();
        files
            .iter()
            .map(|file| (file["name"].as_str().unwrap().to_owned(), codes(&file["diagnostics"])))
            .collect()
    };
    let pair = |name: &str, codes: &[&str]| {
        (name.to_owned(), codes.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
    };
    assert_eq!(all(json!({})), [pair("fine", &[]), pair("wrong", &["unknown-gate"])]);
    let (fine, new) =
        (world.path(".claude/superpowers/fine.yaml"), world.path(".claude/superpowers/new.yaml"));
    let texts = json!({
        fine.to_str().unwrap(): head("fine") + "stages:\n  - agent: nobody\n",
        new.to_str().unwrap(): head("old") + STAGES,
    });
    assert_eq!(
        all(json!({ "texts": texts })),
        [pair("fine", &["unknown-agent"]), pair("wrong", &["unknown-gate"]), pair("new", &["invalid-name"])]
    );
    assert_eq!(all(json!({ "name": "fine", "texts": texts })), [pair("fine", &["unknown-agent"])]);
    assert_eq!(all(json!({ "name": "new", "texts": texts })), [pair("new", &["invalid-name"])]);
    world.refused("check-all", json!({ "name": "fin" }), "unknown-superpower");
}

#[test]
fn an_unknown_agent_behind_a_link_or_an_odd_head_is_told_why() {
    let world = World::new();
    world.declare("w", "stages:\n  - agent: planner\n  - skill: drawer\n");
    let elsewhere = tempfile::tempdir().unwrap();
    let outside = elsewhere.path();
    std::fs::create_dir_all(outside.join("drawer")).unwrap();
    std::fs::write(outside.join("planner.md"), "").unwrap();
    std::fs::write(outside.join("drawer/SKILL.md"), "").unwrap();
    world.write(".claude/agents/other.md", "---\nname: {a: b}\n---\n");
    std::fs::create_dir_all(world.path(".claude/skills")).unwrap();
    std::os::unix::fs::symlink(outside.join("planner.md"), world.path(".claude/agents/planner.md")).unwrap();
    std::os::unix::fs::symlink(outside.join("drawer"), world.path(".claude/skills/drawer")).unwrap();
    let answer = world.ok("check-all", json!({ "name": "w", "texts": {} }));
    let said = answer["files"][0]["diagnostics"].to_string();
    assert!(
        said.contains(".claude/agents/planner.md is a link out of the project, which is not followed"),
        "{said}"
    );
    assert!(said.contains("other.md:2: \\\"name\\\" must be a text"), "{said}");
    assert!(
        said.contains(".claude/skills/drawer is a link out of the project, which is not followed"),
        "{said}"
    );
    let health = world.ok("health", json!({ "root": world.root() }));
    assert_eq!(health["project"]["left"].as_array().unwrap().len(), 2, "{health}");
}

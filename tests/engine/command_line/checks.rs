//! `superpower check`, and the documented examples of it.

use super::{Done, Shell};
use serde_json::json;

const BAD: &str = "stages:\n  - agent: writer\n    when: stroy.ui_true\n  - gate: human_approval\n";

#[test]
fn each_problem_is_a_line_and_an_error_is_a_status() {
    let shell = Shell::new();
    shell.world.write(".claude/agents/writer.md", "---\nname: writer\n---\n");
    shell.world.write(".claude/agents/printer.md", "---\nname: printer\n---\n");
    let fine = shell.expect(0, &["check", "small"]);
    assert_eq!((fine.out.as_str(), fine.err.as_str()), ("", ""));
    shell.world.declare("bad", BAD);
    let lines = "\
.claude/superpowers/bad.yaml:6:11: warning: not checked without an editor: condition \"stroy.ui_true\" (did you mean \
\"story.ui_true\"?) [unchecked-condition]
.claude/superpowers/bad.yaml:7:11: error: unknown gate \"human_approval\" (did you mean \"human-approval\"?) [unknown-gate]
";
    for words in [&["check", "bad"][..], &["check", ".claude/superpowers/bad.yaml"]] {
        let bad = shell.expect(1, words);
        assert_eq!((bad.out.as_str(), bad.err.as_str()), (lines, ""), "{words:?}");
    }
    let all = shell.expect(1, &["check"]);
    assert_eq!(all.out, lines);
    shell.world.declare("bad", &BAD.replace("human_approval", "human-approval"));
    shell.expect(0, &["check", "bad"]);
}

#[test]
fn what_cannot_be_checked_is_refused_beside_what_can() {
    let shell = Shell::new();
    shell.world.declare("bad", BAD);
    let done = shell.expect(2, &["check", "nothing", "bad", "not-there.yaml"]);
    assert!(done.out.contains("[unknown-gate]"), "{}", done.out);
    assert!(done.err.contains("\"nothing\"") && done.err.contains("not-there.yaml"), "{}", done.err);
}

#[test]
fn facts_of_the_configuration_are_known() {
    let shell = Shell::new();
    shell
        .world
        .declare("bad", &BAD.replace("human_approval", "human-approval").replace("writer", "orchestrator"));
    shell.configure(json!({ "conditions": ["stroy.ui_true"] }));
    let done = shell.expect(0, &["check", "bad"]);
    assert!(!done.out.contains("unchecked-condition"), "{}", done.out);
}

#[test]
fn a_file_outside_of_a_project_is_checked_too() {
    let shell = Shell::new();
    let file = shell.path().join("alone.yaml");
    std::fs::write(&file, "name: alone\ndescription: x\nversion: 1.0\nstages:\n  - agent: writer\n").unwrap();
    let done = Done::of(shell.command(&["check", "alone.yaml"]).current_dir(shell.path()).output().unwrap());
    assert_eq!(done.status, 1, "{done:#?}");
    assert!(done.out.starts_with("alone.yaml:3:10: error: "), "{}", done.out);
}

#[test]
fn json_has_the_positions_and_the_fixes() {
    let shell = Shell::new();
    shell.world.declare("bad", BAD);
    let done = shell.expect(1, &["check", "bad", "--json"]);
    let checked: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    let gate = &checked["files"][0]["diagnostics"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(
        (&gate["code"], &gate["lnum"], &gate["severity"]),
        (&json!("unknown-gate"), &json!(6), &json!(1))
    );
    assert_eq!(gate["fix"]["edits"][0]["text"], "human-approval");
}

/// The examples of the README are those of the help page, and what a machine would do with them works.
#[test]
fn the_documented_examples_check_a_project() {
    let read = |path: &str| {
        std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
    };
    let (readme, help) = (read("README.md"), read("doc/superpower.txt"));
    let hook = example(&readme, "repos:");
    let workflow = example(&readme, "on: [push, pull_request]");
    for text in [&hook, &workflow] {
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            assert!(help.contains(line.trim()), "not in the help page: {line}");
        }
    }
    let hook: serde_json::Value = serde_yaml::from_str(&hook).unwrap();
    let hook = &hook["repos"][0]["hooks"][0];
    assert_eq!((&hook["entry"], &hook["language"]), (&json!("superpower check"), &json!("system")));
    let pattern = regex::Regex::new(hook["files"].as_str().unwrap()).unwrap();
    let file = ".claude/superpowers/bad.yaml";
    assert!(pattern.is_match(file) && !pattern.is_match("docs/x.yaml"));
    let workflow: serde_json::Value = serde_yaml::from_str(&workflow).unwrap();
    let steps = workflow["jobs"]["superpowers"]["steps"].as_array().unwrap();
    assert!(steps.iter().any(|step| step["run"] == "superpower check"), "{workflow:#}");

    // A hook is given the files that changed, and fails where one has an error.
    let shell = Shell::new();
    shell.world.declare("bad", BAD);
    let entry: Vec<&str> = hook["entry"].as_str().unwrap().split(' ').skip(1).chain([file]).collect();
    shell.expect(1, &entry);
    shell.world.write(".claude/superpowers/schema.yaml", "type: object\n");
    let schema = shell.expect(0, &["check", ".claude/superpowers/schema.yaml"]);
    assert_eq!((schema.out.as_str(), schema.err.as_str()), ("", ""));
    shell.expect(0, &["check", ".claude/superpowers/small.yaml"]);
}

/// The block of a page that begins with this line.
fn example(page: &str, first: &str) -> String {
    let block =
        page.split("```").find(|block| block.trim_start_matches("yaml").trim_start().starts_with(first));
    block.unwrap_or_else(|| panic!("no block begins with {first}")).trim_start_matches("yaml").to_owned()
}

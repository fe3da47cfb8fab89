//! The verbs that only show something, as text.

use super::Shell;

#[test]
fn a_project_without_runs_says_so() {
    let shell = Shell::new();
    assert_eq!(shell.expect(0, &["status"]).out, "no run in this project\n");
    assert_eq!(shell.expect(0, &["runs"]).out, "no runs in this project\n");
    assert!(shell.expect(2, &["log"]).err.starts_with("superpower: "));
    assert!(shell.expect(2, &["diff"]).err.starts_with("superpower: "));
    assert!(!shell.world.path(".claude/state").exists());
}

#[test]
fn a_run_is_shown_stage_by_stage() {
    let shell = Shell::new();
    shell.expect(3, &["run", "small", "epic=x"]);
    let status = shell.expect(0, &["status"]).out;
    assert!(status.starts_with("small 1.0.0  paused (gate)  stage 2/3  run="), "{status}");
    assert!(
        status.contains("   1  passed      Work on x\n") && status.contains("   3  waiting "),
        "{status}"
    );
    let runs = shell.expect(0, &["runs"]).out;
    assert!(runs.contains("  small  paused (gate)  stage 2/3  ") && runs.ends_with("  x\n"), "{runs}");
    let log = shell.expect(0, &["log"]).out;
    assert!(log.starts_with("[superpower] LOADED  small"), "{log}");
    let why = shell.expect(0, &["why"]).out;
    assert!(why.starts_with("stage 2/3: Is it right\n") && why.contains("its gate is open"), "{why}");
    assert!(shell.expect(0, &["why", "1"]).out.contains("it passed"));
    assert!(shell.expect(2, &["why", "none"]).err.contains("why takes a stage's number, got \"none\""));
    let unknown = shell.expect(2, &["status", "run=ffff"]);
    assert!(unknown.err.contains("ffff"), "{}", unknown.err);
}

#[test]
fn a_plan_says_what_would_run_skip_and_ask() {
    let shell = Shell::new();
    shell.world.declare(
        "when",
        "stages:\n  - {agent: writer, when: never}\n  - {agent: writer, gate: human-approval}\n",
    );
    let plan = shell.expect(0, &["plan", "when"]).out;
    assert!(plan.starts_with("when 1.0.0\n   1  skip  agent writer  [agent writer]  "), "{plan}");
    assert!(plan.contains("   2  run   agent writer  [agent writer, then asks]"), "{plan}");
    assert!(!shell.world.path(".claude/state").exists());
}

#[test]
fn a_list_names_the_superpowers_and_their_errors() {
    let shell = Shell::new();
    shell.world.declare("bad", "stages: []\n");
    let list = shell.expect(0, &["list"]).out;
    assert_eq!(list, "bad              1 error: superpower check\nsmall  1.0.0     For a test\n");
}

#[test]
fn a_diff_shows_what_changed_since_the_last_approval() {
    let shell = Shell::new();
    let git = |words: &[&str]| {
        assert!(
            std::process::Command::new("git")
                .arg("-C")
                .arg(shell.world.root())
                .args(words)
                .status()
                .unwrap()
                .success()
        );
    };
    git(&["init", "-q"]);
    shell.world.write("notes.md", "one\ntwo\nthree\n");
    shell.world.hook("printf 'one\\n2\\nthree\\n' > notes.md; echo fine");
    shell.expect(3, &["run", "small", "epic=x"]);
    let list = shell.expect(0, &["diff"]).out;
    assert!(list.contains("notes.md  +1 -1\n"), "{list}");
    let diff = shell.expect(0, &["diff", "notes.md"]).out;
    assert_eq!(diff, "--- a/notes.md\n+++ b/notes.md\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n");
}

#[test]
fn a_folder_is_named_by_root_and_otherwise_found_from_within() {
    let shell = Shell::new();
    shell.world.write("deep/er/x", "");
    let mut command = shell.command(&["list"]);
    let within = command.current_dir(shell.world.path("deep/er")).output().unwrap();
    assert!(String::from_utf8(within.stdout).unwrap().starts_with("small "));
    let root = shell.world.root();
    let mut command = shell.command(&["list", "--root", root.to_str().unwrap()]);
    let elsewhere = command.current_dir(shell.path()).output().unwrap();
    assert!(String::from_utf8(elsewhere.stdout).unwrap().starts_with("small "));
    let nowhere = shell.command(&["list"]).current_dir("/").output().unwrap();
    assert!(nowhere.status.code() == Some(0) || nowhere.status.code() == Some(2));
}

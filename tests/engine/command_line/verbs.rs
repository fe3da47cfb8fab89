//! The verbs that drive: their lines, and their exit statuses.

use super::{Done, SMALL, Shell};

#[test]
fn a_run_goes_to_the_gate_and_after_an_approval_to_the_end() {
    let shell = Shell::new();
    let run = shell.expect(3, &["run", "small", "epic=two words"]);
    let lines = [
        "[superpower] LOADED  small  v1.0.0  stages=3",
        "[superpower] STAGE 1/3: Work on two words",
        "[superpower] DISPATCH  agent=writer",
        "[superpower] STAGE 2/3: Is it right",
        "[superpower] GATE   Human approval required: Is it right",
        "[superpower] PAUSED — decide with: approve, changes or reject",
    ];
    assert_eq!(run.out.lines().collect::<Vec<_>>(), lines);
    assert!(
        run.err.starts_with("superpower: gate of stage 2/3: ") && run.err.contains("(review="),
        "{}",
        run.err
    );
    shell.expect(3, &["resume"]);
    let approved = shell.expect(0, &["approve", "looks", "| good"]);
    assert!(
        approved.out.contains("[superpower] APPROVED  stage 2/3: looks | good  (headless, superpower "),
        "{}",
        approved.out
    );
    assert!(approved.out.ends_with("[superpower] COMPLETE  small\n"), "{}", approved.out);
    assert_eq!(approved.err, "");
    let again = shell.expect(0, &["resume"]);
    assert_eq!(again.out, "");
}

#[test]
fn changes_go_back_and_a_reject_that_took_effect_is_fine() {
    let shell = Shell::new();
    shell.expect(3, &["run", "small", "epic=x"]);
    assert!(shell.expect(2, &["changes"]).err.contains("say what should change"));
    let changes = shell.expect(3, &["changes", "smaller"]);
    assert!(changes.out.contains("CHANGES  stage 2/3: smaller  (headless, superpower "), "{}", changes.out);
    let rejected = shell.expect(0, &["reject", "no"]);
    assert!(rejected.out.contains("REJECTED  stage 2/3: no  (headless, superpower "), "{}", rejected.out);
    shell.expect(1, &["resume"]);
    shell.expect(2, &["approve"]);
}

#[test]
fn a_failure_is_retried_skipped_and_cancelled() {
    let shell = Shell::new();
    shell.world.hook("echo 'broken pipe' >&2; exit 1");
    let run = shell.expect(1, &["run", "small", "epic=x"]);
    assert!(run.out.contains("RETRY  stage 1/3: attempt 2/3: exit status 1"), "{}", run.out);
    assert!(run.out.contains("FAILED  stage 1/3: Work on x: attempt 3/3: exit status 1"), "{}", run.out);
    let why = "\
superpower: small: stage 1/3 failed 3 times: exit status 1: broken pipe. superpower retry, skip or cancel
superpower: exit status 1
";
    assert_eq!(run.err, why);
    shell.expect(1, &["retry", "please"]);
    assert!(shell.world.read(".prompt").contains("please"));
    shell.expect(3, &["skip"]);
    shell.expect(2, &["skip", "more"]);
    let cancelled = shell.expect(0, &["cancel"]);
    assert!(cancelled.out.contains("CANCELLED  small  (headless, superpower "), "{}", cancelled.out);
    shell.expect(1, &["resume"]);
}

#[test]
fn an_answer_to_a_question_is_a_retry() {
    let shell = Shell::new();
    shell.world.hook("grep -q 'the big one' .prompt && echo fine && exit 0; echo 'which database?'; exit 2");
    let run = shell.expect(1, &["run", "small", "epic=x"]);
    assert!(run.err.ends_with("superpower: which database?\n"), "{}", run.err);
    shell.expect(3, &["retry", "the", "big one"]);
}

#[test]
fn what_is_wrong_is_refused_and_leaves_no_trace() {
    let shell = Shell::new();
    for (words, said) in [
        (&["run", "smal", "epic=x"][..], "\"smal\" (did you mean \"small\"?)"),
        (&["run", "small"], "epic"),
        (&["run", "small", "epic=x", "nope=1"], "nope"),
        (&["run", "small", "epic=x", "scope=all"], "full"),
        (&["run", "small", "epic"], "expected key=value, got \"epic\""),
        (&["run", "small", "epic=x", "epic=y"], "\"epic\" is given twice"),
        (&["run"], "name a superpower before its inputs"),
        (&["approve"], "superpower: "),
        (&["retry"], "superpower: "),
        (&["cancel"], "superpower: "),
        (&["resume"], "superpower: "),
        (&["resume", "run=0", "small"], "resume takes one run, got also \"small\""),
        (&["pause", "now"], "pause takes only run=ID, got \"now\""),
        (&["cancel", "run="], "run= needs a run id"),
        (&["rnu", "small"], "unknown verb \"rnu\" (did you mean \"run\"?)"),
        (&["nothing-like-it"], "known: run, resume"),
        (&["status", "--jsn"], "--json"),
        (&[], "Usage: superpower"),
        (&["--root", "/no/such/folder", "list"], "cannot use \"/no/such/folder\" as the project's root"),
    ] {
        let done = shell.expect(2, words);
        assert_eq!(done.out, "", "{words:?}");
        assert!(done.err.contains(said) && done.err.ends_with('\n'), "{words:?}: {}", done.err);
    }
    assert!(!shell.world.path(".claude/state").exists());
}

#[test]
fn only_resuming_a_finished_run_is_no_mistake() {
    let shell = Shell::new();
    shell.expect(3, &["run", "small", "epic=x"]);
    shell.expect(0, &["approve"]);
    for words in
        [&["approve"][..], &["changes", "more"], &["reject"], &["retry"], &["skip"], &["pause"], &["cancel"]]
    {
        assert!(shell.expect(2, words).err.contains("complete"), "{words:?}");
    }
    shell.expect(0, &["resume"]);
}

#[test]
fn a_verb_names_its_run_where_several_fit() {
    let shell = Shell::new();
    let first = started(&shell.expect(3, &["--json", "run", "small", "epic=1"]));
    let second = shell.expect(3, &["run", "small", "epic=2"]);
    assert!(second.out.contains("Work on 2"));
    let refused = shell.expect(2, &["approve"]);
    assert!(refused.err.contains(&first), "{}", refused.err);
    let run = format!("run={first}");
    let rejected = shell.expect(0, &["reject", &run]);
    assert!(rejected.out.contains("REJECTED  stage 2/3  (headless"), "{}", rejected.out);
    shell.expect(3, &["run", "small", "epic=3"]);
    let resumed = shell.expect(3, &["resume", "small"]);
    assert_eq!(resumed.beside_list(), ["superpower: 1 other unfinished run: superpower runs"]);
}

/// The id of the run that a verb started.
fn started(done: &Done) -> String {
    let last: serde_json::Value = serde_json::from_str(done.out.lines().last().unwrap()).unwrap();
    last["run_id"].as_str().unwrap().to_owned()
}

#[test]
fn an_approval_of_files_that_have_changed_has_to_be_repeated_with_an_answer() {
    let shell = Shell::new();
    assert!(
        std::process::Command::new("git")
            .args(["init", "-q"])
            .arg(shell.world.root())
            .status()
            .unwrap()
            .success()
    );
    shell.expect(3, &["run", "small", "epic=x"]);
    shell.world.write("notes.md", "mine\n");
    let held = shell.expect(2, &["approve"]);
    assert!(held.err.contains("notes.md") && held.err.contains("(review="), "{}", held.err);
    shell.expect(0, &["approve", "answer=go-on", "fine"]);
}

#[test]
fn a_declaration_that_was_edited_is_asked_about() {
    let shell = Shell::new();
    shell.expect(3, &["run", "small", "epic=x"]);
    shell.world.declare("small", &SMALL.replace("Work on", "Toil on"));
    let refused = shell.expect(2, &["approve"]);
    assert!(refused.err.contains("answer=old or answer=new"), "{}", refused.err);
    let done = shell.run(&["approve", "answer=old,go-on"]);
    assert_eq!(done.status, 0, "{done:#?}");
}

#[test]
fn a_stage_cannot_decide_about_its_own_run() {
    let shell = Shell::new();
    let mut command = shell.command(&["approve"]);
    let done = Done::of(command.env("SUPERPOWER_RUN_ID", "x").output().unwrap());
    assert_eq!(done.status, 2);
    let program = env!("CARGO_BIN_EXE_superpower");
    shell.world.hook(&format!("{program} run small epic=nested; echo \"status $?\" > nested; echo fine"));
    shell.expect(3, &["run", "small", "epic=x"]);
    assert_eq!(shell.world.read("nested"), "status 2\n");
    assert_eq!(shell.ask(&["runs"])["runs"].as_array().unwrap().len(), 1);
}

#[test]
fn a_fact_of_lua_pauses_the_run_and_says_which_configuration_it_needs() {
    let shell = Shell::new();
    shell.world.declare("facts", "stages:\n  - {agent: writer, when: story.has_api}\n");
    let run = shell.expect(1, &["run", "facts"]);
    assert!(
        run.err.contains("\"story.has_api\"") && run.err.contains("no editor is attached"),
        "{}",
        run.err
    );
    assert_eq!(shell.ask(&["status"])["run"]["reason"], "needs-human");
}

#[test]
fn a_name_that_is_no_path_is_not_looked_for_in_the_project() {
    let shell = Shell::new();
    shell.world.write("superpower", "");
    shell.world.write("superpower-guard", "#!/bin/sh\ntouch ran\n");
    shell.world.executable("superpower-guard");
    use std::os::unix::process::CommandExt;
    let mut command = shell.command(&["run", "small", "epic=x"]);
    let done = Done::of(command.arg0("superpower").output().unwrap());
    assert_eq!(done.status, 3, "{done:#?}");
    assert!(!shell.world.path("ran").exists());
}

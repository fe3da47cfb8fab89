//! Limits for what is kept: runs, raw output, texts in the journal, the log. And how a verb finds its run.

use crate::stage::{Stage, over};
use crate::world::World;
use serde_json::json;
use std::fs;
use std::path::Path;
use superpower::harness::Step;
use superpower::outcome::Outcome;
use superpower::run::event::Event;
use superpower::store::rundir;

const GATED: &str = "stages:\n  - {agent: a}\n  - {gate: human-approval}\n  - {agent: b}\n";
const PLAIN: &str = "stages:\n  - {agent: a}\n";

#[test]
fn finished_runs_beyond_the_limit_are_deleted_and_unfinished_ones_stay() {
    let world = World::new();
    world.configure(json!({ "keep_runs": 3 }));
    world.declare("gated", GATED);
    world.declare("plain", PLAIN);
    let waiting = world.run("gated", json!({}));
    world.settled();
    let mut done = Vec::new();
    for _ in 0..6 {
        done.push(world.run("plain", json!({})));
        assert_eq!(world.settled()["state"], "complete");
    }
    let there = rundir::ids(&world.root());
    assert!(there.contains(&waiting), "it waits for somebody");
    assert_eq!(there.iter().filter(|id| done.contains(id)).count(), 3);
    assert_eq!(there[..3], [done[5].clone(), done[4].clone(), done[3].clone()], "the newest, newest first");
    let listed = world.ok("runs", json!({}));
    let listed: Vec<&str> =
        listed.as_array().unwrap().iter().map(|run| run["run_id"].as_str().unwrap()).collect();
    assert_eq!(listed, there);
}

/// The number of git objects that we keep for reviews, and of those in the user's repository.
fn objects(git: &Path) -> usize {
    let folders = fs::read_dir(git.join("objects")).unwrap().map(|it| it.unwrap());
    let ours = folders.filter(|folder| folder.file_name().len() == 2);
    ours.map(|folder| fs::read_dir(folder.path()).unwrap().count()).sum()
}

#[test]
fn review_files_are_deleted_if_no_unfinished_run_needs_them() {
    let world = World::new();
    let git = |args: &[&str]| {
        let out = std::process::Command::new("git").args(args).current_dir(world.root()).output().unwrap();
        assert!(out.status.success(), "{args:?}: {out:?}");
        String::from_utf8(out.stdout).unwrap()
    };
    git(&["init", "-q"]);
    world.write("mine.txt", "mine\n");
    git(&["add", "mine.txt"]);
    let users = objects(&world.path(".git"));
    world.declare("gated", GATED);
    world.declare("plain", "stages:\n  - {agent: b}\n  - {gate: human-approval}\n");
    world.hook("mkdir -p many; for i in $(seq 5000); do echo $1 $i > many/$i; done; echo done");
    let waiting = world.run("gated", json!({}));
    assert_eq!(world.settled()["reason"], "gate");
    let needed = objects(&world.reviews());
    world.run("plain", json!({}));
    assert_eq!(world.settled()["reason"], "gate");
    assert!(objects(&world.reviews()) > needed + 4000, "what the second agent wrote");
    world.ok("cancel", json!({}));
    world.settled();
    world.hook("rm -r many; echo done");
    world.run("plain", json!({}));
    world.settled();
    let left = objects(&world.reviews());
    // The index keeps its last state.
    assert!(left < needed + 5100, "{left} of {needed}");
    world.ok("cancel", json!({}));
    world.settled();
    world.run("plain", json!({}));
    world.settled();
    let left = objects(&world.reviews());
    assert!(left < needed + 100, "{left} of {needed}");
    world.ok("cancel", json!({}));
    world.settled();
    world.ok("resume", json!({ "which": waiting }));
    assert_eq!(world.settled()["gate"]["id"], "2.1");
    assert_eq!(world.ok("diff", json!({ "path": "mine.txt" }))["before"], "mine\n");
    world.ok("decide", json!({ "decision": "approve" }));
    assert_eq!(world.settled()["state"], "complete");
    assert_eq!(objects(&world.path(".git")), users);
    assert_eq!(git(&["status", "--porcelain", "mine.txt"]), "A  mine.txt\n");
}

#[test]
fn a_name_means_the_current_or_newest_run_and_counts_the_others() {
    let world = World::new();
    world.declare("gated", GATED);
    world.declare("plain", PLAIN);
    let ids: Vec<String> = (0..3)
        .map(|_| {
            let id = world.run("gated", json!({}));
            world.settled();
            id
        })
        .collect();
    let resume = |which: &str| {
        let answer = world.ok("resume", json!({ "which": which }));
        world.settled();
        (answer["run_id"].as_str().unwrap().to_owned(), answer["others"].as_u64().unwrap())
    };
    assert_eq!(resume("gated"), (ids[2].clone(), 2));
    assert_eq!(resume(&ids[0]), (ids[0].clone(), 0), "any run by its id, which makes it current");
    assert_eq!(resume("gated"), (ids[0].clone(), 2), "squad.json's");
    world.run("plain", json!({}));
    world.settled();
    assert_eq!(resume("gated"), (ids[2].clone(), 2), "else the one started last");
    // The start of an id is enough if it is unique.
    let differs = ids[0].bytes().zip(ids[1].bytes()).position(|(a, b)| a != b).unwrap();
    let message = world.refused("resume", json!({ "which": ids[0][..4] }), "ambiguous-run");
    assert!(message.contains("matches 4 runs"), "{message}");
    let unique =
        (differs + 1..=36).find(|&end| ids.iter().filter(|id| id.starts_with(&ids[1][..end])).count() == 1);
    assert_eq!(resume(&ids[1][..unique.unwrap()]).0, ids[1]);
    world.ok("cancel", json!({}));
    world.settled();
    assert_eq!(resume("gated"), (ids[2].clone(), 1), "one that is over does not count");
    let message = world.refused("resume", json!({ "which": "gatd" }), "nothing-to-resume");
    assert!(message.contains("did you mean \"gated\""), "{message}");
    // The history lists all, newest first, with how they ended.
    let runs = world.ok("runs", json!({}));
    let told: Vec<(&str, &str)> = runs
        .as_array()
        .unwrap()
        .iter()
        .map(|run| (run["superpower"].as_str().unwrap(), run["state"].as_str().unwrap()))
        .collect();
    assert_eq!(
        told,
        [("plain", "complete"), ("gated", "paused"), ("gated", "cancelled"), ("gated", "paused")]
    );
}

#[test]
fn a_run_without_a_summary_is_listed_from_its_journal() {
    let world = World::new();
    world.declare("gated", GATED);
    let id = world.run("gated", json!({}));
    world.settled();
    let listed = world.ok("runs", json!({}));
    fs::remove_file(world.path(&format!(".claude/state/runs/{id}/summary.json"))).unwrap();
    assert_eq!(world.ok("runs", json!({})), listed);
    world.write(&format!(".claude/state/runs/{id}/summary.json"), "{\"run_id\": 3");
    assert_eq!(world.ok("runs", json!({})), listed);
    world.write(".claude/state/runs/rubbish/journal.jsonl", "not a journal\n");
    world.write(".claude/state/runs/empty/x", "");
    assert_eq!(world.ok("runs", json!({})), listed);
}

#[test]
fn long_texts_are_cut_in_the_journal_and_in_prompts() {
    let long = "é".repeat(200_000);
    let text = long.clone();
    let stage = Stage::new(move |launch| match launch.launch {
        1 => vec![Step::End(Outcome::Failed { why: text.clone() }, text.clone())],
        2 => vec![Step::End(Outcome::NeedsHuman { question: text.clone() }, String::new())],
        _ => vec![Step::End(Outcome::Passed, text.clone())],
    });
    let handle = stage.start("  - {agent: a}\n  - {agent: b}\n");
    assert_eq!(over(&handle)["reason"], "needs-human");
    let retried = Event::Retried { by: "ann".into(), comment: long, how: None };
    let handle = stage.take_up(&handle.run_id, vec![retried]).unwrap();
    assert_eq!(over(&handle)["state"], "complete");
    let path = stage.root().join(format!(".claude/state/runs/{}/journal.jsonl", handle.run_id));
    let journal = fs::read_to_string(path).unwrap();
    let longest = journal.lines().map(str::len).max().unwrap();
    assert!(longest < 45 * 1024, "{longest}");
    let dir = stage.root().join(format!(".claude/state/runs/{}/attempts", handle.run_id));
    for entry in fs::read_dir(dir).unwrap() {
        let prompt = fs::metadata(entry.unwrap().path().join("prompt.md")).unwrap().len();
        assert!(prompt < 120 * 1024, "{prompt}");
    }
    let log = stage.log();
    assert!(log.iter().all(|line| line.len() < 6 * 1024), "{}", log.iter().map(String::len).max().unwrap());
}

#[test]
fn raw_output_is_saved_up_to_the_limit_and_the_rest_counted() {
    let world = World::new();
    world.configure(json!({ "max_output": 1000 }));
    world.declare("plain", PLAIN);
    world.hook("i=0; while [ $i -lt 500 ]; do echo \"line $i of many\"; i=$((i+1)); done");
    world.run("plain", json!({}));
    assert_eq!(world.settled()["state"], "complete", "what is not kept is read all the same");
    let path = world.ok("output", json!({ "stage": 1, "what": "output" }))["path"].clone();
    let kept = fs::read_to_string(path.as_str().unwrap()).unwrap();
    assert!(kept.starts_with("line 0 of many\n") && kept.len() < 1100, "{}", kept.len());
    assert!(kept.trim_end().ends_with("more bytes were not kept]"), "{kept}");
}

#[test]
fn the_log_is_rotated_and_one_old_file_is_kept() {
    let world = World::new();
    world.configure(json!({ "max_log": 2048 }));
    world.declare("plain", PLAIN);
    for _ in 0..30 {
        world.run("plain", json!({}));
        world.settled();
    }
    let names = ["superpower.log", "superpower.log.1"];
    let texts = names.map(|name| world.read(&format!(".claude/logs/{name}")));
    for (name, text) in names.iter().zip(&texts) {
        assert!(!text.is_empty() && text.len() <= 2048 + 200, "{name}: {}", text.len());
        assert!(text.lines().all(|line| line.starts_with("[superpower] ")), "{name}");
    }
    assert!(texts[0].ends_with("[superpower] COMPLETE  plain\n"));
    assert_eq!(fs::read_dir(world.path(".claude/logs")).unwrap().count(), 3, "and a .gitignore");
}

/// Our own directories are ignored by git, and a `.gitignore` that exists already is not changed.
#[test]
fn our_directories_are_ignored_by_git() {
    let world = World::new();
    world.declare("plain", PLAIN);
    world.write(".claude/logs/.gitignore", "!*\n");
    world.run("plain", json!({}));
    world.settled();
    assert_eq!(world.read(".claude/state/.gitignore"), "*\n");
    assert_eq!(world.read(".claude/logs/.gitignore"), "!*\n");
}

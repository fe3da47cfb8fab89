//! The baseline and the lists that were shown are records of the journal. Files beside it count only if they agree with it.

use crate::world::World;
use serde_json::{Value, json};
use std::fs;
use superpower::run::event::Event;

const GATES: &str =
    "stages:\n  - {agent: a}\n  - {gate: human-approval}\n  - {agent: b}\n  - {gate: human-approval}\n";

/// A run that waits at its first gate, with `a.md` under review.
fn at_gate() -> (World, String) {
    let world = World::new();
    world.declare("gates", GATES);
    world.write(".gitignore", "calls\n.prompt\nagent-hook\n");
    world.hook("echo $1 > $1.md; echo done");
    let run_id = world.run("gates", json!({}));
    assert_eq!(world.settled()["gate"]["id"], "2.1");
    (world, run_id)
}

fn dir(run_id: &str) -> String {
    format!(".claude/state/runs/{run_id}")
}

fn events(world: &World, run_id: &str) -> Vec<Event> {
    world.records(run_id).into_iter().map(|record| record.event).collect()
}

fn listed(world: &World) -> Vec<String> {
    let review = world.ok("review", json!({}));
    assert_eq!(review["note"], Value::Null, "{review}");
    let files = review["files"].as_array().unwrap().iter();
    files.map(|file| file["path"].as_str().unwrap().to_owned()).collect()
}

/// A forged list that hides the changes.
fn forge(world: &World, run_id: &str, gate: &str) {
    let path = format!("{}/review-{gate}.json", dir(run_id));
    let mut list: Value = serde_json::from_str(&world.read(&path)).unwrap();
    list["files"] = json!([]);
    list["seals"] = json!([]);
    world.write(&path, &list.to_string());
}

#[test]
fn baselines_and_shown_lists_are_in_the_journal() {
    let (world, run_id) = at_gate();
    world.ok("decide", json!({ "decision": "approve" }));
    assert_eq!(world.settled()["gate"]["id"], "4.1");
    let events = events(&world, &run_id);
    let baselines: Vec<(&String, usize)> = events
        .iter()
        .filter_map(|event| match event {
            Event::BaselineTaken { tree, decisions } => Some((tree, *decisions)),
            _ => None,
        })
        .collect();
    assert_eq!(baselines.iter().map(|it| it.1).collect::<Vec<_>>(), [0]);
    let shown: Vec<(usize, &String, &String)> = events
        .iter()
        .filter_map(|event| match event {
            Event::ReviewShown {
                stage,
                visit: 1,
                from: Some(from),
                tree: Some(tree),
                digest: Some(_),
                note: None,
                held: false,
                printed: false,
            } => Some((*stage, from, tree)),
            _ => None,
        })
        .collect();
    assert_eq!(shown.len(), 2);
    assert_eq!((shown[0].0, shown[0].1), (1, baselines[0].0));
    assert_eq!((shown[1].0, shown[1].1), (3, shown[0].2), "what was shown is what is compared with");
    assert_ne!(shown[0].2, baselines[0].0, "a.md is new");
    let decided = events.iter().find_map(|event| match event {
        Event::GateDecided { review, since, .. } => Some((review.clone(), since.len())),
        _ => None,
    });
    let first = world.opened(&run_id).run.shown_at(1, 1)[0].digest.clone();
    assert_eq!(decided, Some((first, 0)));
    // It is read again.
    let run = world.opened(&run_id).run;
    assert_eq!(run.baseline.unwrap().tree, *shown[0].2);
    assert_eq!(run.shown.len(), 2);
    let files: Vec<String> = fs::read_dir(world.path(&dir(&run_id)))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(!files.contains(&"baseline".to_owned()), "{files:?}");
}

#[test]
fn forged_files_beside_the_journal_change_nothing() {
    for forged in ["list", "gone", "rubbish"] {
        let (mut world, run_id) = at_gate();
        let tree = match &world.opened(&run_id).run.shown_at(1, 1)[0].tree {
            Some(tree) => tree.clone(),
            None => panic!("a list"),
        };
        let path = format!("{}/review-2.1.json", dir(&run_id));
        match forged {
            "list" => forge(&world, &run_id, "2.1"),
            "gone" => fs::remove_file(world.path(&path)).unwrap(),
            _ => world.write(&path, "{\"after\":"),
        }
        // A forged baseline: the files as they are now.
        world.write(&format!("{}/baseline", dir(&run_id)), &format!("{tree}\n0\n"));
        world.restart();
        assert_eq!(listed(&world), ["a.md"], "{forged}");
        world.ok("decide", json!({ "decision": "approve" }));
        assert_eq!(world.settled()["gate"]["id"], "4.1");
        world.write(&format!("{}/baseline", dir(&run_id)), &format!("{}\n9\n", "0".repeat(40)));
        forge(&world, &run_id, "4.1");
        world.restart();
        assert_eq!(listed(&world), ["b.md"], "{forged}");
        assert_eq!(world.ok("diff", json!({ "path": "a.md" }))["before"], "a\n");
    }
}

/// The files of an approval are known even if the saved list is lost.
#[test]
fn a_change_after_the_approval_asks_again_whatever_other_files_say() {
    for (forged, changed) in [(true, true), (false, true), (false, false)] {
        let (mut world, run_id) = at_gate();
        // The user's own edit at the gate, which the approval covers.
        world.write("a.md", "better\n");
        assert_eq!(listed(&world), ["a.md"]);
        world.ok("decide", json!({ "decision": "approve" }));
        world.settled();
        world.restart();
        world.cut_journal_where(&run_id, |text| text.find("\"gate-decided\""));
        fs::remove_file(world.path("b.md")).unwrap();
        if forged {
            forge(&world, &run_id, "2.1");
        } else {
            fs::remove_file(world.path(&format!("{}/review-2.1.json", dir(&run_id)))).unwrap();
        }
        world.write("another.md", "not under review\n");
        if changed {
            world.write("a.md", "evil\n");
            let message = world.refused("resume", json!({}), "files-changed");
            assert!(message.contains("a.md") && !message.contains("another.md"), "{message}");
        } else {
            world.ok("resume", json!({}));
            assert_eq!(world.settled()["gate"]["id"], "4.1");
        }
    }
}

/// An editor was killed before its list was in the journal. The list of the next editor is saved with the decision.
#[test]
fn a_list_made_without_a_driver_is_recorded_with_the_decision() {
    let (mut world, run_id) = at_gate();
    world.restart();
    let text = world.journal(&run_id);
    let shown = text.lines().position(|line| line.contains("\"review-shown\"")).unwrap();
    let cut: String = text.lines().take(shown).map(|line| format!("{line}\n")).collect();
    world.write_journal(&run_id, &cut);
    let cut = world.journal(&run_id);
    assert_eq!(listed(&world), ["a.md"]);
    assert_eq!(world.journal(&run_id), cut, "showing writes nothing into a journal that another may drive");
    assert_eq!(listed(&world), ["a.md"]);
    world.ok("decide", json!({ "decision": "approve" }));
    assert_eq!(world.settled()["gate"]["id"], "4.1");
    let events = events(&world, &run_id);
    let shown = events.iter().position(|event| matches!(event, Event::ReviewShown { stage: 1, .. })).unwrap();
    assert!(
        matches!(&events[shown + 1], Event::GateDecided { digest: Some(_), .. }),
        "{:?}",
        &events[shown..]
    );
}

/// The lists in a foreign journal do not count, even after the user has adopted the run.
#[test]
fn lists_of_a_foreign_run_are_not_trusted() {
    let (mut world, run_id) = at_gate();
    forge(&world, &run_id, "2.1");
    world.restart();
    let other = world.state_dir().join("other");
    world.configure(json!({ "state_dir": other }));
    let review = world.ok("review", json!({}));
    assert_eq!(review["files"], json!([]));
    assert!(review["note"].as_str().unwrap().contains("is not known"), "{review}");
    world.ok("decide", json!({ "decision": "approve", "answer": "adopt" }));
    assert_eq!(world.settled()["gate"]["id"], "4.1");
    assert_eq!(listed(&world), ["b.md"]);
    let first = events(&world, &run_id)
        .into_iter()
        .find(|event| matches!(event, Event::BaselineTaken { .. } | Event::ReviewShown { .. }));
    assert!(!matches!(first, Some(Event::BaselineTaken { decisions: 0, .. })), "{first:?}");
}

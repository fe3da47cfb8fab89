//! Runs whose editor has died: how they are shown before they are resumed.

use crate::world::World;
use serde_json::json;
use std::time::Duration;
use superpower::store::lease::{self, Taken};

const HOUR: i64 = 3_600_000;

/// A run whose editor died years ago while its agent was active.
fn left() -> (World, String) {
    let mut world = World::new();
    world.declare("one", "stages:\n  - {agent: a}\n  - {agent: b}\n");
    let run_id = world.run("one", json!({}));
    world.settled();
    world.restart();
    let text = world.journal(&run_id);
    let working: Vec<&str> = text.lines().take_while(|line| !line.contains("\"attempt-ended\"")).collect();
    let year = &working[1][working[1].find("\"at\":\"").unwrap()..][..10];
    let text = working.join("\n").replace(year, "\"at\":\"2020");
    world.write_journal(&run_id, &format!("{text}\n"));
    let mut kept = superpower::store::summary::read(&world.root(), &run_id, &world.keys()).unwrap().summary;
    kept.state = "running".into();
    superpower::store::summary::write(&world.root(), &kept, &world.keys()).unwrap();
    (world, run_id)
}

#[test]
fn an_abandoned_run_is_shown_as_interrupted_everywhere() {
    let (world, run_id) = left();
    let picture = world.status();
    assert_eq!((&picture["state"], &picture["reason"]), (&json!("paused"), &json!("interrupted")));
    assert_eq!(picture["summary"], "interrupted at stage 1/2: :Superpower resume");
    assert_eq!(picture["stages"][0]["note"], "interrupted", "{picture:#}");
    let runs = world.ok("runs", json!({}));
    assert_eq!((&runs[0]["run_id"], &runs[0]["state"]), (&json!(run_id), &json!("paused")), "{runs:#}");
    assert_eq!(runs[0]["reason"], "interrupted");
}

#[test]
fn the_time_without_a_driver_does_not_count() {
    let (world, _) = left();
    assert!(world.status()["active_ms"].as_i64().unwrap() < HOUR);
    world.ok("resume", json!({}));
    let picture = world.settled();
    assert_eq!(picture["state"], "complete");
    assert!(picture["active_ms"].as_i64().unwrap() < HOUR, "{picture:#}");
    assert!(picture["stages"][0]["elapsed_ms"].as_i64().unwrap() < HOUR, "{picture:#}");
}

#[test]
fn reading_the_lock_does_not_block_a_driver() {
    let world = World::new();
    let Taken::Ours(taken) = lease::take(&world.root()).unwrap() else { panic!("it is free") };
    drop(taken);
    let taken_meanwhile = || {
        let looks = std::fs::File::open(lease::path(&world.root())).unwrap();
        looks.try_lock_shared().unwrap();
        let looking = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(3));
            drop(looks);
        });
        let taken = matches!(lease::take(&world.root()).unwrap(), Taken::Ours(_));
        looking.join().unwrap();
        taken
    };
    // On a busy machine a single read may be slow.
    assert!((0..20).any(|_| taken_meanwhile()));
}

#[test]
fn an_accepted_pause_is_in_the_journal_at_once() {
    let world = World::new();
    world.declare("one", "stages:\n  - {agent: a}\n  - {agent: b}\n");
    world.hook("touch ready; while [ ! -e go ]; do sleep 0.02; done; echo fine");
    let run_id = world.run("one", json!({}));
    world.until("the agent to work", |_| world.path("ready").exists());
    world.ok("pause", json!({}));
    // Nothing else writes it to the journal.
    assert!(
        world.read(&format!(".claude/state/runs/{run_id}/journal.jsonl")).contains("\"pause-requested\"")
    );
    world.write("go", "");
    assert_eq!(world.settled()["reason"], "user");
}

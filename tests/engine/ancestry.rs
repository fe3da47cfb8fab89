//! An editor that a stage has started must not decide, drive, trust or finish. It is recognized by its ancestors, or by the
//! mark in its environment if the ancestors cannot be read.
#![cfg(target_os = "linux")]

use super::child::child;
use super::places::{Place, in_place, skipped};
use super::world::World;
use serde_json::{Value, json};
use std::process::Command;

const SHIP: &str = "stages:
  - agent: maker
  - {name: look, gate: human-approval}
  - agent: deployer
";

/// The codes and the messages that the other editor has got.
fn said(world: &World) -> (Vec<Value>, Vec<Value>) {
    let said: Value = serde_json::from_str(&world.read("said")).unwrap();
    (said["codes"].as_array().unwrap().clone(), said["events"].as_array().unwrap().clone())
}

fn all_are(codes: &[Value], code: &str) -> bool {
    assert_eq!(codes.len(), 9);
    codes.iter().all(|it| it == code)
}

/// A run whose agent starts an editor in this way.
fn started_by_an_agent(way: &str) -> World {
    let world = World::new();
    world.declare("ship", SHIP);
    let nested = child("nested");
    let program = nested.get_program().to_str().unwrap();
    world.hook(&format!(
        "{way} {program} nested {} >&2; while [ ! -f said ]; do sleep 0.01; done; echo done",
        world.root().display()
    ));
    world.run("ship", json!({}));
    assert_eq!(world.settled()["reason"], "gate");
    world
}

#[test]
fn an_editor_that_an_agent_started_does_nothing_that_is_for_humans() {
    for way in ["", "env -i", "env -i setsid", "env -i nohup setsid -f"] {
        let (codes, _) = said(&started_by_an_agent(way));
        assert!(all_are(&codes, "nested"), "{way}: {codes:?}");
    }
}

#[test]
fn nor_does_one_that_the_agent_put_where_no_ancestor_is_seen() {
    // In a namespace of its own it is the first process; with another `/proc` it may show what it likes.
    let no_proc = "sh -c 'mount -t tmpfs none /proc && exec \"$@\"' -";
    for way in ["unshare -rpf --mount-proc", &format!("unshare -rm --propagation private {no_proc}")] {
        let tried = Command::new("sh").args(["-c", &format!("{way} true")]).status();
        if !tried.is_ok_and(|status| status.success()) {
            skipped(&format!("this user cannot: {way}"));
            continue;
        }
        let (codes, _) = said(&started_by_an_agent(&format!("env -i PATH=$PATH {way}")));
        assert!(all_are(&codes, "nested"), "{way}: {codes:?}");
    }
}

#[test]
fn a_peer_that_nobody_keeps_below_an_agent_any_more_is_known_by_its_limit() {
    use superpower::process::{Ancestry, ancestry_of};
    let of = |limit: u64| {
        let limits = format!("--rttime={limit}:{limit}");
        let mut peer = Command::new("prlimit").args([&limits, "sleep", "600"]).spawn().unwrap();
        let named = || std::fs::read_to_string(format!("/proc/{}/comm", peer.id())).unwrap();
        while named().trim() != "sleep" {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let found = ancestry_of(peer.id());
        peer.kill().unwrap();
        peer.wait().unwrap();
        found
    };
    assert_eq!(of(1 << 62 | 17 << 16 | 3), Ancestry::Launched);
    // That of somebody whose session has a real limit.
    assert_eq!(of(200_000), Ancestry::Free);
}

#[test]
fn nothing_that_it_left_decides_after_its_stage() {
    let world = World::new();
    world.declare("ship", SHIP);
    let late =
        "while ! grep -q '\"reason\": \"gate\"' .claude/state/squad.json; do sleep 0.01; done; : > late";
    world.hook(&format!(": > alive; env -i setsid sh -c '{late}' & echo done"));
    world.run("ship", json!({}));
    assert_eq!(world.settled()["reason"], "gate");
    // A process that is still running would have created `late` by now.
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert!(world.path("alive").exists() && !world.path("late").exists());
}

/// An editor that belongs to no run, in this place.
fn free(place: Place, mark: bool) -> Option<(Vec<Value>, Vec<Value>)> {
    let world = World::new();
    let mut command = child("nested");
    command.arg(world.root());
    if mark {
        command.env("SUPERPOWER_RUN_ID", "a run");
    }
    let mut command: Command = in_place(place, &command)?;
    assert!(command.status().unwrap().success());
    Some(said(&world))
}

#[test]
fn an_editor_of_no_runs_is_refused_for_other_reasons_only() {
    let (codes, events) = free(Place::Here, false).unwrap();
    assert!(codes.iter().all(|code| code != "nested"), "{codes:?}");
    assert!(events.is_empty(), "{events:?}");
    assert!(all_are(&free(Place::Here, true).unwrap().0, "nested"));
}

#[test]
fn without_proc_the_mark_decides_and_that_is_said_once() {
    let Some((codes, events)) = free(Place::NoProc, false) else { return };
    assert!(codes.iter().all(|code| code != "nested"), "{codes:?}");
    let said =
        events.iter().filter(|event| event.to_string().contains("cannot see which process started which"));
    assert_eq!(said.count(), 1, "{events:?}");
    assert!(all_are(&free(Place::NoProc, true).unwrap().0, "nested"));
}

//! Editors, drivers and launchers that are killed at random instants of a run: no stage that was finished is started
//! again, never two agents at once, and nothing is left in the end.
//!
//! A few rounds always; with `SUPERPOWER_LONG=1` a thousand.
#![cfg(target_os = "linux")]

use crate::clients::{Editor, Ends, LONG};
use crate::world::World;
use serde_json::{Value, json};
use std::process::Command;
use std::time::{Duration, Instant};

const STAGES: [&str; 3] = ["writer", "checker", "printer"];

/// Writes down that it began and ended, and whether another agent of the run was at work meanwhile.
const AGENT: &str = "exec 9> at-work
flock -n 9 || echo \"$1\" >> together
echo \"$1\" >> begun
(sleep 0.0$(($$ % 4 + 1))) 
echo \"$1\" >> finished
echo done";

fn rounds() -> u64 {
    if std::env::var_os("SUPERPOWER_LONG").is_some() { 1000 } else { 12 }
}

/// Numbers that look random, and are the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

fn children(pid: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = tasks.map(|task| std::fs::read_to_string(task.path().join("children")).unwrap_or_default());
    lists.flat_map(|list| list.split_whitespace().flat_map(str::parse).collect::<Vec<u32>>()).collect()
}

fn kill(pid: u32) {
    Command::new("kill")
        .args(["-KILL", &pid.to_string()])
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap();
}

/// Drives on, from wherever the run stands, and kills something after a moment; whether the run is complete.
fn drive_and_kill(world: &World, numbers: &mut Numbers, started: &mut bool) -> bool {
    let mut editor = Editor::of(world);
    let status = editor.call("status", json!({}));
    match status["ok"]["state"].as_str() {
        Some("complete") => return true,
        Some("paused") => {
            let answer = editor.call("resume", json!({ "by": "ann" }));
            assert!(answer.get("ok").is_some() || refused_for_now(&answer), "{answer}");
        }
        Some("running") => {}
        _ if *started => {}
        _ => {
            *started = editor.call("run", json!({ "name": "three", "by": "ann" })).get("ok").is_some();
        }
    }
    std::thread::sleep(Duration::from_millis(numbers.below(120)));
    let driver = editor.driver();
    match (numbers.below(4), driver) {
        (0, Some(driver)) => kill(driver),
        (1, Some(driver)) => children(driver).into_iter().for_each(kill),
        (2, Some(driver)) => {
            let launchers = children(driver);
            kill(driver);
            launchers.into_iter().for_each(kill);
        }
        // The editor alone: its end is that of its connection.
        _ => {}
    }
    editor.router.call(&json!({ "op": "stop", "grace_ms": 0 }).to_string());
    false
}

/// A verb that came while another process drives, or while one ends.
fn refused_for_now(answer: &Value) -> bool {
    let code = answer["err"]["code"].as_str().unwrap_or_default();
    matches!(code, "running" | "driven-elsewhere" | "driver-gone" | "not-now" | "ended")
}

#[test]
fn whatever_is_killed_each_stage_is_finished_once_and_nothing_is_left() {
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    for round in 0..rounds() {
        let world = World::new();
        world.declare(
            "three",
            &format!("stages:\n{}", STAGES.map(|name| format!("  - agent: {name}\n")).concat()),
        );
        world.hook(AGENT);
        let mut started = false;
        let end = Instant::now() + LONG * 2;
        while !drive_and_kill(&world, &mut numbers, &mut started) {
            assert!(Instant::now() < end, "round {round} does not end: {:#?}", world.log());
        }
        assert_eq!(world.read("together"), "", "round {round}: two agents at once");
        // An agent that was killed begins again; one whose end is in the journal does not.
        let begun: Vec<String> = world.read("begun").lines().map(str::to_owned).collect();
        let order: Vec<usize> =
            begun.iter().map(|name| STAGES.iter().position(|stage| stage == name).unwrap()).collect();
        assert!(order.is_sorted(), "round {round}: a stage that was passed began again: {begun:?}");
        assert_eq!(order.last(), Some(&2), "round {round}");
        let editor = Editor::of(&world);
        if let Some(driver) = editor.driver() {
            drop(Ends(driver));
        }
        let left = || {
            let found = Command::new("pgrep").arg("-f").arg(world.root()).output().unwrap().stdout;
            String::from_utf8_lossy(&found).split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        let end = Instant::now() + LONG;
        while !left().is_empty() {
            assert!(Instant::now() < end, "round {round}: {:?} are left", left());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

//! A run that is killed at any moment can be continued, and nothing is lost, repeated or skipped.

use std::collections::BTreeMap;
use std::fs;
use std::process::Child;
use std::time::{Duration, Instant};
use superpower::outcome::Outcome;
use superpower::run::event::{Decision, Event};
use superpower::runs::open::open;
use superpower::store::{journal, rundir};

use crate::child::child;
use crate::world::World;

/// Twelve stages: gates, a stage that fails at first, one that is skipped, and a rewind at the second gate.
const TWELVE: &str = "stages:
  - {name: s1, agent: a1}
  - {name: s2, agent: a2}
  - {name: s3, gate: human-approval}
  - {name: s4, agent: a4}
  - {name: s5, agent: flaky}
  - {name: s6, agent: a6, when: branch.not_spike}
  - {name: s7, gate: human-approval, rework: s4}
  - {name: s8, agent: a8, when: never}
  - {name: s9, agent: a9, gate: human-approval}
  - {name: s10, agent: a10}
  - {name: s11, agent: a11, when: identity.tokens_missing}
  - {name: s12, agent: a12}
";

fn project() -> World {
    let world = World::new();
    world.declare("twelve", TWELVE);
    world.write(
        "agent",
        "#!/bin/sh\ncat > /dev/null\necho \"$SUPERPOWER_ATTEMPT\" >> calls\ncase $1 in flaky) [ -e flaked ] || { : > flaked; exit 1; } ;; esac\necho done\n",
    );
    world.executable("agent");
    world
}

fn editor(world: &World, fault: Option<&str>) -> Child {
    let mut command = child("crash");
    if let Some(fault) = fault {
        command.env("SUPERPOWER_FAULT", fault);
    }
    command.arg(world.root()).arg(world.state_dir()).spawn().unwrap()
}

/// The journal can be read and replayed at any time.
fn readable(world: &World) {
    for id in rundir::ids(&world.root()) {
        if let Err(error) = open(&world.root(), &id, &world.keys()) {
            // A run whose first record is not on disk has not begun.
            let text = world.read(&format!(".claude/state/runs/{id}/journal.jsonl"));
            assert!(text.lines().count() <= 1, "{error}\n{text}");
        }
    }
}

/// Checks what a finished run guarantees.
fn kept(world: &World) {
    let id = rundir::ids(&world.root())
        .into_iter()
        .find(|id| open(&world.root(), id, &world.keys()).is_ok())
        .unwrap();
    let opened = open(&world.root(), &id, &world.keys()).unwrap();
    assert_eq!(opened.run.phase.word(), "complete");
    // The last approval recorded the baseline of the next gate before an agent changed files.
    let approved = opened.run.decisions.iter().rposition(|it| it.decision == Decision::Approve).unwrap();
    assert_eq!(opened.run.baseline.as_ref().unwrap().decisions, approved + 1);
    let records = journal::read(&opened.place).unwrap().records;
    let mut launched: BTreeMap<u32, usize> = BTreeMap::new();
    let mut passed: BTreeMap<usize, u32> = BTreeMap::new();
    let mut order = Vec::new();
    let mut decisions = Vec::new();
    // Replay record by record, and check the state before each.
    let mut run = None;
    for record in &records {
        match (&mut run, &record.event) {
            (None, _) => {
                run = Some(superpower::run::machine::start(opened.run.plan.clone(), record).0);
                continue;
            }
            (Some(run), event) => {
                let before = run.clone();
                superpower::run::machine::step(run, record).unwrap();
                match event {
                    Event::AgentStarted { launch, .. } => {
                        let stage = run.current().unwrap();
                        launched.insert(*launch, stage);
                        assert!(
                            !passed.contains_key(&stage),
                            "stage {stage} was started again after it had passed"
                        );
                    }
                    Event::AttemptEnded { launch, outcome: Outcome::Passed, .. } => {
                        let stage = before.current().unwrap();
                        passed.insert(stage, *launch);
                        order.push(stage + 1);
                    }
                    Event::GateDecided { stage, visit, .. } => {
                        decisions.push((stage + 1, *visit));
                        if (*stage, *visit) == (6, 1) {
                            passed.retain(|stage, _| *stage < 3);
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    let mut calls = world.calls();
    let all = calls.len();
    calls.sort();
    calls.dedup();
    assert_eq!(calls.len(), all, "a launch was made twice");
    assert_eq!(order, [1, 2, 4, 5, 6, 4, 5, 6, 9, 10, 11, 12]);
    assert_eq!(decisions, [(3, 1), (7, 1), (7, 2), (9, 1)]);
}

fn finish(world: &World) {
    let mut last = editor(world, None);
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(status) = last.try_wait().unwrap() {
            assert!(status.success(), "the last editor failed; the log says:\n{}", world.log().join("\n"));
            break;
        }
        assert!(Instant::now() < end, "it does not end; the log says:\n{}", world.log().join("\n"));
        std::thread::sleep(Duration::from_millis(5));
    }
    kept(world);
}

/// A simple generator, so that a failing seed can be printed.
fn random(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

fn long() -> bool {
    std::env::var_os("SUPERPOWER_LONG").is_some()
}

#[test]
fn a_run_killed_at_random_instants_keeps_every_promise() {
    let runs = if long() { 1_000 } else { 4 };
    for n in 1..=runs {
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(n);
        let world = project();
        for _ in 0..random(&mut seed) % 12 {
            let mut editor = editor(&world, None);
            std::thread::sleep(Duration::from_millis(20 + random(&mut seed) % 400));
            editor.kill().unwrap();
            editor.wait().unwrap();
            readable(&world);
        }
        finish(&world);
    }
}

/// Kills or fails the editor at its nth write, flush or rename, for every n.
fn at_every_operation(what: &str) {
    let stride = if long() { 1 } else { 23 };
    let mut n = 1;
    loop {
        let world = project();
        let mut first = editor(&world, Some(&format!("{what}:{n}")));
        let end = Instant::now() + Duration::from_secs(20);
        let ended = loop {
            match first.try_wait().unwrap() {
                Some(status) => break status.success(),
                // With a full disk it retries forever.
                None if Instant::now() > end || (what == "fail" && full(&world)) => {
                    let _ = first.kill();
                    let _ = first.wait();
                    break false;
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        readable(&world);
        if ended {
            assert!(n > 50, "a run of twelve stages makes more than {n} operations");
            return;
        }
        finish(&world);
        n += stride;
        assert!(n < 5_000);
    }
}

/// Whether the run was paused by a full disk.
fn full(world: &World) -> bool {
    fs::read_dir(world.path(".claude/state")).is_ok()
        && superpower::store::lease::holder(&world.root()).is_none()
        && rundir::ids(&world.root()).first().is_some_and(|id| {
            let journal = world.path(&format!(".claude/state/runs/{id}/journal.jsonl"));
            let age =
                fs::metadata(journal).and_then(|file| file.modified()).ok().and_then(|at| at.elapsed().ok());
            age.is_some_and(|age| age > Duration::from_millis(300))
        })
}

#[test]
fn a_run_killed_at_every_write_keeps_every_promise() {
    at_every_operation("die");
}

#[test]
fn a_full_disk_pauses_the_run_until_there_is_space() {
    at_every_operation("fail");
}

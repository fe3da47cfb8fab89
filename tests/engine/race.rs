//! More than one who wants to decide, or to drive.

use crate::world::{STATE, World};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::time::{Duration, Instant};
use superpower::engine::Engine;
use superpower::run::event::Event;

const PROJECT: &str = "SUPERPOWER_RACE_PROJECT";
const GATE: &str = "stages:\n  - {agent: a}\n  - {gate: human-approval}\n  - {agent: b}\n";

fn engine(root: &Path, state: &Path) -> std::sync::Arc<Engine> {
    let engine = Engine::new();
    let config = json!({
        "harness": "command", "trust": "always", "state_dir": state,
        "harnesses": { "command": { "cmd": [root.join("bin/agent"), "{agent}{skill}"] } },
    });
    engine.call(&json!({ "op": "configure", "config": config }).to_string());
    engine
}

fn call(engine: &Engine, root: &Path, op: &str, mut fields: Value) -> Value {
    fields["op"] = json!(op);
    fields["root"] = json!(root);
    serde_json::from_str(&engine.call(&fields.to_string())).unwrap()
}

/// Not a test: another editor, where the environment says so. It decides when it is told to, or drives until it ends.
#[test]
fn child() {
    let Some(root) = std::env::var_os(PROJECT) else { return };
    let root = Path::new(&root).canonicalize().unwrap();
    let engine = engine(&root, Path::new(&std::env::var_os(STATE).unwrap()));
    if root.join("drive").exists() {
        assert!(call(&engine, &root, "run", json!({ "name": "gate" })).get("ok").is_some());
        while call(&engine, &root, "status", json!({}))["ok"]["state"] == "running" {
            std::thread::sleep(Duration::from_millis(2));
        }
        return;
    }
    std::fs::write(root.join(format!("ready-{}", std::process::id())), "").unwrap();
    while !root.join("now").exists() {
        std::thread::sleep(Duration::from_micros(200));
    }
    let answer = call(&engine, &root, "decide", json!({ "decision": "approve", "gate": "2.1" }));
    std::fs::write(root.join(format!("said-{}", std::process::id())), answer.to_string()).unwrap();
    // Whoever decided drives on to the end.
    while answer.get("ok").is_some() && call(&engine, &root, "status", json!({}))["ok"]["state"] == "running"
    {
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn editor(world: &World) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "race::child", "--nocapture", "--test-threads=1"])
        .env(PROJECT, world.root())
        .env(STATE, world.state_dir())
        .env_remove("SUPERPOWER_RUN_ID")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn of_many_deciders_one_decides() {
    let (rounds, threads, processes) =
        if std::env::var_os("SUPERPOWER_LONG").is_some() { (1_000, 80, 20) } else { (2, 10, 4) };
    for _ in 0..rounds {
        let world = World::new();
        world.declare("gate", GATE);
        let run_id = world.run("gate", json!({}));
        world.settled();
        let mut editors: Vec<Child> = (0..processes).map(|_| editor(&world)).collect();
        let ready = |prefix: &str| {
            let names = std::fs::read_dir(world.root()).unwrap().map(|entry| entry.unwrap().file_name());
            names.filter(|name| name.to_string_lossy().starts_with(prefix)).count()
        };
        while ready("ready-") < processes {
            std::thread::sleep(Duration::from_millis(2));
        }
        let barrier = Barrier::new(threads + 1);
        let (root, state) = (world.root(), world.state_dir());
        let decided: usize = std::thread::scope(|scope| {
            let deciders: Vec<_> = (0..threads)
                .map(|n| {
                    let (barrier, root, state) = (&barrier, &root, &state);
                    scope.spawn(move || {
                        let engine = engine(root, state);
                        barrier.wait();
                        let decision = if n % 2 == 0 { "approve" } else { "reject" };
                        let fields = json!({ "decision": decision, "gate": "2.1" });
                        let answer = call(&engine, root, "decide", fields);
                        while call(&engine, root, "status", json!({}))["ok"]["ours"] == true {
                            std::thread::sleep(Duration::from_millis(1));
                        }
                        usize::from(answer.get("ok").is_some())
                    })
                })
                .collect();
            world.write("now", "");
            barrier.wait();
            deciders.into_iter().map(|decider| decider.join().unwrap()).sum()
        });
        for editor in &mut editors {
            assert!(editor.wait().unwrap().success());
        }
        let said = std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path());
        let elsewhere = said
            .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("said-"))
            .filter(|path| std::fs::read_to_string(path).unwrap().contains("\"ok\""))
            .count();
        assert_eq!(decided + elsewhere, 1, "one decision is made");
        let records = world.records(&run_id);
        let made = records.iter().filter(|record| matches!(record.event, Event::GateDecided { .. })).count();
        assert_eq!(made, 1);
    }
}

/// S6: liveness is the lock's, never an age: a stopped driver still drives.
#[test]
fn s6_a_stopped_driver_is_not_taken_over() {
    let world = World::new();
    world.declare("gate", GATE);
    world.hook("echo ready > ready; while [ ! -e go ]; do sleep 0.02; done; echo fine");
    world.write("drive", "");
    let mut other = editor(&world);
    world.until("the other editor to drive", |_| world.path("ready").exists());
    let pid = i32::try_from(other.id()).unwrap();
    // SAFETY: signals to a child of ours.
    unsafe { libc::kill(pid, libc::SIGSTOP) };
    world.write("go", "");
    std::thread::sleep(Duration::from_millis(300));
    for op in ["resume", "cancel", "retry", "skip", "pause"] {
        let why = world.refused(op, json!({}), "driven-elsewhere");
        assert!(why.contains(&pid.to_string()), "{why}");
    }
    world.refused("run", json!({ "name": "gate" }), "driven-elsewhere");
    assert_eq!(world.status()["state"], "running");
    // SAFETY: as above.
    unsafe { libc::kill(pid, libc::SIGCONT) };
    let end = Instant::now() + Duration::from_secs(20);
    while other.try_wait().unwrap().is_none() {
        assert!(Instant::now() < end);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(world.settled()["gate"]["id"], "2.1");
    assert_eq!(world.calls(), ["a"]);
    world.ok("decide", json!({ "decision": "approve" }));
    assert_eq!(world.settled()["state"], "complete");
}

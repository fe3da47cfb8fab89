//! Concurrent deciders and drivers.

use crate::child::child;
use crate::world::World;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Child;
use std::sync::Barrier;
use std::time::{Duration, Instant, SystemTime};
use superpower::engine::Engine;
use superpower::run::event::Event;
use superpower::store::lease;

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

fn editor(world: &World, job: &str) -> Child {
    child(job).arg(world.root()).arg(world.state_dir()).spawn().unwrap()
}

#[test]
fn only_one_of_many_deciders_decides() {
    let (rounds, threads, processes) =
        if std::env::var_os("SUPERPOWER_LONG").is_some() { (1_000, 80, 20) } else { (2, 10, 4) };
    for _ in 0..rounds {
        let world = World::new();
        world.declare("gate", GATE);
        world.write(".gitignore", "ready-*\nsaid-*\nnow\n");
        let run_id = world.run("gate", json!({}));
        world.settled();
        let mut editors: Vec<Child> = (0..processes).map(|_| editor(&world, "race-decide")).collect();
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

/// The lock shows whether a driver is alive, never its age: a stopped driver still drives.
#[test]
fn a_stopped_driver_is_not_taken_over() {
    let world = World::new();
    world.declare("gate", GATE);
    world.hook("echo ready > ready; while [ ! -e go ]; do sleep 0.02; done; echo fine");
    let mut other = editor(&world, "race-drive");
    world.until("the other editor to drive", |_| world.path("ready").exists());
    let pid = i32::try_from(other.id()).unwrap();
    // SAFETY: signals to a child of ours.
    unsafe { libc::kill(pid, libc::SIGSTOP) };
    let stat = format!("/proc/{pid}/stat");
    let stopped = || std::fs::read_to_string(&stat).unwrap().contains(") T ");
    world.until("the other editor to stand still", |_| stopped());
    world.write("go", "");
    let lock = std::fs::File::options().write(true).open(lease::path(&world.root())).unwrap();
    lock.set_modified(SystemTime::now() - Duration::from_secs(24 * 3600)).unwrap();
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
    world.look();
    world.ok("decide", json!({ "decision": "approve" }));
    assert_eq!(world.settled()["state"], "complete");
}

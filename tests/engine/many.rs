//! A project with many superpowers and agents: each operation reads every file once, not once for each other file.

use crate::disk_faults::Failing;
use crate::world::World;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use superpower::store::disk::Op;

const SUPERPOWERS: usize = 200;
const AGENTS: usize = 60;
/// The accesses that one file may need: an existence check, an open, and resolving its real path.
const LOOKS: usize = 4;

fn world() -> World {
    let world = World::new();
    for n in 0..SUPERPOWERS {
        let stages: String =
            (0..5).map(|at| format!("  - {{agent: worker-{}}}\n", (n + at) % AGENTS)).collect();
        world.declare(&format!("many-{n:03}"), &format!("stages:\n{stages}"));
    }
    for n in 0..AGENTS {
        let agent = format!("---\nname: worker-{n}\ndescription: Works\n---\nWork.\n");
        world.write(&format!(".claude/agents/worker-{n}.md"), &agent);
    }
    world
}

/// The files that an operation reads, and how often.
fn read(world: &World, ask: impl Fn() -> Value) -> (Value, HashMap<PathBuf, usize>) {
    let counted: Arc<Mutex<HashMap<PathBuf, usize>>> = Arc::default();
    let counts = counted.clone();
    let counting = Failing::with(world.root(), 0, move |op, path| {
        if op == Op::Read && path.extension().is_some_and(|ending| ending == "md" || ending == "yaml") {
            *counts.lock().unwrap().entry(path.to_owned()).or_default() += 1;
        }
        false
    });
    let answer = ask();
    drop(counting);
    let counts = std::mem::take(&mut *counted.lock().unwrap());
    (answer, counts)
}

#[test]
fn a_list_of_200_superpowers_reads_each_file_once() {
    let world = world();
    for round in 0..2 {
        let (list, counts) = read(&world, || world.ok("list", json!({})));
        let list = list.as_array().unwrap();
        assert_eq!(list.len(), SUPERPOWERS, "round {round}");
        for (n, entry) in list.iter().enumerate() {
            assert_eq!((&entry["name"], &entry["stages"]), (&json!(format!("many-{n:03}")), &json!(5)));
            assert_eq!((&entry["errors"], &entry["warnings"]), (&json!(0), &json!(0)), "{entry}");
        }
        assert!(counts.len() >= SUPERPOWERS + AGENTS, "round {round}: {}", counts.len());
        let most = counts.iter().max_by_key(|(_, times)| **times).unwrap();
        assert!(*most.1 <= LOOKS, "round {round}: {most:?}");
    }
}

#[test]
fn a_check_reads_each_agent_once_and_no_other_superpower_whole() {
    let world = world();
    let path = world.path(".claude/superpowers/many-007.yaml");
    for round in 0..2 {
        let (checked, counts) = read(&world, || world.ok("check", json!({ "path": path })));
        assert_eq!(checked["diagnostics"], json!([]), "round {round}");
        let agents = counts.iter().filter(|(path, _)| path.extension().is_some_and(|it| it == "md"));
        assert!(agents.clone().all(|(_, times)| *times <= LOOKS), "round {round}: {counts:?}");
        let others = counts.keys().filter(|it| **it != path && it.extension().is_some_and(|it| it == "yaml"));
        assert_eq!(others.count(), 0, "round {round}: {counts:?}");
    }
    // The second call sees changes since the first.
    std::fs::remove_file(world.path(".claude/agents/worker-8.md")).unwrap();
    let checked = world.ok("check", json!({ "path": path }));
    assert_eq!(checked["diagnostics"][0]["code"], "unknown-agent", "{checked}");
}

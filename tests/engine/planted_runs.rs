//! Every path that a run accesses through the door, with something else in its place: opening, listing, planning, showing
//! and continuing do not block, and change nothing outside of the project.

use crate::planted::{Outside, Planted};
use crate::world::World;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use superpower::store::disk::set_witness;

/// A call that takes longer counts as blocked.
const HANGS: Duration = Duration::from_secs(20);

const BODY: &str = r#"inputs:
  - {name: story, default: one}
stages:
  - {agent: a, description: A, expects: {files: [docs/plan.md]}}
  - {agent: b, when: story.ui_true}
  - {agent: b, when: identity.tokens_missing}
  - {skill: s, when: branch.not_spike}
  - {gate: human-approval, description: G}
  - {agent: b, description: B}
"#;

/// A project with a finished run, and another one at its gate.
fn project() -> World {
    let world = World::new();
    world.declare("full", BODY);
    world.declare("other", "stages:\n  - {agent: a}\n");
    world.write(".claude/agents/a.md", "---\nname: a\ndescription: d\n---\n");
    world.write(".claude/agents/b.md", "---\nname: b\ndescription: d\n---\n");
    world.write(".claude/skills/s/SKILL.md", "---\nname: s\ndescription: d\n---\n");
    world.write(".opencode/agent/o.md", "---\ndescription: d\n---\n");
    world.write("docs/stories/one.md", "---\nui: true\n---\n");
    world.write("docs/design/identity/tokens.json", "{}");
    world.write(".git/HEAD", "ref: refs/heads/main\n");
    fs::create_dir_all(world.path(".git/objects")).unwrap();
    fs::create_dir_all(world.path(".git/refs")).unwrap();
    world.hook("[ $1 = a ] && { mkdir -p docs; echo x > docs/plan.md; }; echo done");
    world
}

/// Plays the run and returns the paths that were accessed, relative to the root.
fn asked_for(world: &World) -> Vec<PathBuf> {
    let all: Arc<Mutex<BTreeSet<PathBuf>>> = Arc::default();
    let (heard, root) = (all.clone(), world.root());
    set_witness(Some(Box::new(move |base, inner| {
        if let Ok(inner) = base.join(inner).strip_prefix(&root) {
            heard.lock().unwrap_or_else(PoisonError::into_inner).insert(inner.to_owned());
        }
    })));
    world.configure(json!({ "keep_runs": 1 }));
    world.run("full", json!({}));
    world.settled();
    world.ok("decide", json!({ "decision": "approve" }));
    assert_eq!(world.settled()["state"], "complete");
    world.run("other", json!({}));
    world.settled();
    world.run("full", json!({}));
    assert_eq!(world.settled()["reason"], "gate");
    for (op, fields) in LOOKS.map(|op| (op, fields(op))) {
        world.call(op, fields);
    }
    set_witness(None);
    let mut all: Vec<PathBuf> =
        std::mem::take(&mut *all.lock().unwrap_or_else(PoisonError::into_inner)).into_iter().collect();
    // Temporary files have a different name each time.
    let passing = |path: &Path| {
        let text = path.to_string_lossy();
        text.ends_with(".new") || text.contains(".lock.")
    };
    // The test's own agent also writes through a link.
    let agents =
        |path: &Path| ["calls", ".prompt", "bin", "agent-hook"].iter().any(|it| path.starts_with(it));
    all.retain(|path| !path.as_os_str().is_empty() && !passing(path) && !agents(path));
    // Deleted runs have no files to replace.
    let kept = superpower::store::rundir::ids(&world.root());
    all.retain(|path| {
        let of = path.strip_prefix(".claude/state/runs").ok().and_then(|path| path.components().next());
        of.is_none_or(|id| kept.iter().any(|kept| id.as_os_str() == kept.as_str()))
    });
    all
}

/// Operations that only show.
const LOOKS: [&str; 9] = ["list", "check-all", "plan", "trust", "runs", "status", "why", "review", "health"];

fn fields(op: &str) -> Value {
    match op {
        "plan" | "trust" => json!({ "name": "full" }),
        _ => json!({}),
    }
}

/// A project and our state at one moment: our run is ours only in its original place.
struct Kept(tempfile::TempDir);

impl Kept {
    fn of(world: &World) -> Self {
        let dir = tempfile::tempdir().unwrap();
        copy(&world.root(), &dir.path().join("root"));
        copy(&world.state_dir(), &dir.path().join("state"));
        Self(dir)
    }

    fn bring_back(&self, world: &World) {
        for (from, to) in [("root", world.root()), ("state", world.state_dir())] {
            // A thread that is about to end may still write a file.
            for _ in 0..1000 {
                if fs::remove_dir_all(&to).is_ok() || !to.exists() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            copy(&self.0.path().join(from), &to);
        }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (kind, to) = (entry.file_type().unwrap(), to.join(entry.file_name()));
        if kind.is_dir() {
            copy(&entry.path(), &to);
        } else if kind.is_file() {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Calls on a thread, and fails without an answer.
fn answered(world: &Arc<World>, op: &'static str, fields: Value, what: &str) -> Value {
    let (sender, receiver) = channel();
    let there = world.clone();
    let calling = std::thread::spawn(move || drop(sender.send(there.call(op, fields))));
    let answer = receiver.recv_timeout(HANGS).unwrap_or_else(|_| panic!("{op} hangs: {what}"));
    calling.join().unwrap();
    assert_ne!(answer["err"]["code"], "panic", "{op}, {what}: {answer}");
    if let Some(message) = answer["err"]["message"].as_str() {
        assert!(!message.is_empty(), "{op}, {what}");
    }
    answer
}

fn try_out(world: &Arc<World>, path: &Path, planted: Planted) {
    let what = format!("{planted:?} as {}", path.display());
    let outside = Outside::new();
    planted.plant(&world.path(&path.display().to_string()), &outside);
    let file = world.path("docs/plan.md");
    answered(world, "project", json!({ "file": file, "cwd": world.root() }), &what);
    for op in LOOKS {
        answered(world, op, fields(op), &what);
    }
    let attempt = json!({ "stage": 1, "what": "output" });
    let output = answered(world, "output", attempt, &what);
    if let Some(path) = output["ok"]["path"].as_str() {
        answered(world, "read-file", json!({ "path": path, "from": -100 }), &what);
    }
    outside.is_untouched(&what);
    let decided = answered(world, "decide", json!({ "decision": "approve" }), &what);
    if decided.get("ok").is_none() {
        answered(world, "resume", json!({}), &what);
    }
    for _ in 0..2000 {
        let status = answered(world, "status", json!({}), &what);
        if status["ok"]["state"] != "running" {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    answered(world, "cancel", json!({}), &what);
    answered(world, "stop", json!({ "grace_ms": 200 }), &what);
    outside.is_untouched(&what);
}

/// A huge file in the project: git reads it until its time limit when the gate opens.
fn listed_by_git(path: &Path, planted: Planted) -> bool {
    let unseen = [".git", ".claude/state"].iter().any(|dir| path.starts_with(dir));
    matches!(planted, Planted::Huge) && !unseen
}

#[test]
fn anything_in_the_place_of_a_runs_file_gets_an_answer() {
    let world = project();
    let paths = asked_for(&world);
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    for name in
        [".claude/state/squad.json", ".claude/state/drive.lock", ".claude/agents/a.md", "docs/plan.md"]
    {
        assert!(names.iter().any(|path| path == name), "{name} is not among them: {names:#?}");
    }
    let mut world = Arc::new(world);
    let before = Kept::of(&world);
    let long = std::env::var_os("SUPERPOWER_LONG").is_some();
    let kinds = Planted::ALL.len();
    for (at, path) in paths.iter().enumerate() {
        for (kind, planted) in Planted::ALL.into_iter().enumerate() {
            if (long || kind == at % kinds) && !listed_by_git(path, planted) {
                try_out(&world, path, planted);
                Arc::get_mut(&mut world).expect("nobody calls any more").restart();
                before.bring_back(&world);
            }
        }
    }
}

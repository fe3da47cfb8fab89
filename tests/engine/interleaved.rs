//! Writes, reviews and decisions in random order: every change is in a list that was shown before its approval, or in the
//! next list.

use crate::project_review::git;
use crate::world::World;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use superpower::engine::Engine;

const STAGES: &str = "stages:
  - {agent: a}
  - {gate: human-approval}
  - {agent: b}
  - {gate: human-approval}
  - {agent: c}
  - {gate: human-approval}
";

/// A small random generator that is reproducible by its seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % n as u64).unwrap()
    }
}

type Files = BTreeMap<String, String>;

/// The current contents of the files that this test writes.
fn files(world: &World) -> Files {
    let read = |n: usize| {
        let name = format!("f{n}");
        fs::read_to_string(world.path(&name)).ok().map(|text| (name, text))
    };
    (0..5).filter_map(read).collect()
}

fn differing(from: &Files, to: &Files) -> BTreeSet<String> {
    let names: BTreeSet<&String> = from.keys().chain(to.keys()).collect();
    names.into_iter().filter(|name| from.get(*name) != to.get(*name)).cloned().collect()
}

fn listed(answer: &Value) -> BTreeSet<String> {
    let files = answer["files"].as_array().unwrap().iter();
    files.map(|file| file["path"].as_str().unwrap().to_owned()).filter(|path| path.starts_with('f')).collect()
}

/// An editor, and what it shows.
struct Editor {
    engine: Arc<Engine>,
    /// The id of its list, and the files as of that list.
    shows: Option<(String, Files)>,
}

fn round(seed: u64) {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let world = World::new();
    world.write(".gitignore", "calls\n.prompt\n");
    world.declare("gates", STAGES);
    world.write("f0", "first\n");
    let start = files(&world);
    world.run("gates", json!({}));
    world.settled();
    let mut editors: Vec<Editor> = (0..2)
        .map(|n| {
            let engine = if n == 0 { world.engine.clone() } else { Engine::new() };
            let agent = world.path("bin/agent");
            let config = json!({
                "harness": "command", "trust": "always", "state_dir": world.state_dir(),
                "harnesses": { "command": { "cmd": [agent, "{agent}{skill}"] } },
            });
            engine.call(&json!({ "op": "configure", "config": config }).to_string());
            Editor { engine, shows: None }
        })
        .collect();
    let call = |editor: &Editor, op: &str, mut fields: Value| -> Value {
        fields["op"] = json!(op);
        fields["root"] = json!(world.root());
        serde_json::from_str(&editor.engine.call(&fields.to_string())).unwrap()
    };
    // The baseline of the open gate.
    let mut approved = start;
    for step in 0..40 {
        match dice.below(6) {
            0..=2 => {
                let name = format!("f{}", dice.below(5));
                match dice.below(4) {
                    0 => drop(fs::remove_file(world.path(&name))),
                    _ => world.write(&name, &format!("{}\n", dice.below(3))),
                }
            }
            3 => {
                let editor = dice.below(2);
                let answer = call(&editors[editor], "review", json!({}));
                let now = files(&world);
                assert_eq!(
                    listed(&answer["ok"]),
                    differing(&approved, &now),
                    "seed {seed}, step {step}: {answer}"
                );
                editors[editor].shows = Some((answer["ok"]["review"].as_str().unwrap().to_owned(), now));
            }
            _ => {
                let at = dice.below(2);
                let Some((review, seen)) = editors[at].shows.clone() else { continue };
                let mut fields = json!({ "decision": "approve", "review": review });
                if dice.below(3) == 0 {
                    fields["answer"] = json!("go-on");
                }
                let now = files(&world);
                let answer = call(&editors[at], "decide", fields.clone());
                if answer["ok"].is_object() {
                    // The approval covers what this editor has shown; everything else is in the next list.
                    world.settled();
                    editors.iter_mut().for_each(|editor| editor.shows = None);
                    let last = world.status()["state"] == "complete";
                    assert!(!last || seen == now || fields["answer"] == "go-on", "seed {seed}, step {step}");
                    approved = seen;
                    if last {
                        return;
                    }
                    let next = call(&editors[at], "review", json!({}));
                    let rest = differing(&approved, &files(&world));
                    assert_eq!(listed(&next["ok"]), rest, "seed {seed}, step {step}: {next}");
                    continue;
                }
                let code = answer["err"]["code"].as_str().unwrap();
                match code {
                    "changed-since-shown" | "not-shown" => {
                        assert!(code == "not-shown" || seen != now, "seed {seed}, step {step}: {answer}");
                        let review = answer["err"]["data"]["review"].as_str().unwrap().to_owned();
                        // The window shows the new list.
                        editors[at].shows = Some((review, now));
                    }
                    "changed-again" => assert_ne!(seen, now),
                    // The other editor has decided it, and its event has not arrived yet.
                    other => panic!("seed {seed}, step {step}: {other}: {answer}"),
                }
            }
        }
    }
}

#[test]
fn nothing_is_approved_that_was_not_shown_and_is_not_in_the_next_list() {
    let rounds = if std::env::var_os("SUPERPOWER_LONG").is_some() { 1000 } else { 4 };
    for seed in 0..rounds {
        round(seed);
    }
}

/// The contents of a directory, with modes and links.
fn all(dir: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            all(&path, found);
        } else if kind.is_symlink() {
            found.push((path.clone(), fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()));
        } else {
            found.push((path.clone(), fs::read(&path).unwrap()));
        }
    }
}

#[test]
fn gates_leave_the_users_repository_byte_for_byte_as_it_was() {
    let world = World::new();
    let root = world.root();
    git(&root, &["init", "-q", "-b", "main"]);
    world.write(".gitignore", "calls\n.prompt\n.claude/state/\n.claude/logs/\n*.log\n");
    world.write("tracked.md", "1\n");
    git(&root, &["add", "tracked.md", ".gitignore"]);
    git(&root, &["commit", "-qm", "x"]);
    world.write("staged.md", "staged\n");
    git(&root, &["add", "staged.md"]);
    world.write("staged.md", "and changed\n");
    world.write("untracked.md", "mine\n");
    world.write("ignored.log", "mine\n");
    world.declare("gates", STAGES);
    let state = || {
        let mut found = Vec::new();
        all(&root.join(".git"), &mut found);
        for name in ["tracked.md", "staged.md", "untracked.md", "ignored.log", ".gitignore"] {
            found.push((root.join(name), fs::read(root.join(name)).unwrap()));
        }
        found.sort();
        found
    };
    let before = state();
    world.run("gates", json!({}));
    for _ in 0..3 {
        world.settled();
        let first = world.look();
        world.write("evil.sh", &format!("{first}\n"));
        let answer = world.call("decide", json!({ "decision": "approve", "review": first }));
        assert_eq!(answer["err"]["code"], "changed-since-shown", "{answer}");
        // An ignore rule has changed, so ignored files are listed too.
        world.write("src/.gitignore", &format!("# {first}\n*\n"));
        world.look();
        fs::remove_dir_all(world.path("src")).unwrap();
        world.ok("diff", json!({ "path": "evil.sh" }));
        assert!(world.decide("approve", "")["ok"].is_object());
    }
    assert_eq!(world.settled()["state"], "complete");
    let after = state();
    for ((path, was), (now_path, now)) in before.iter().zip(&after) {
        assert_eq!(path, now_path);
        assert!(was == now, "{} was changed", path.display());
    }
    assert_eq!(before.len(), after.len());
}

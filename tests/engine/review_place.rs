//! The directory of reviews is in our state directory, where a repository cannot provide its contents.

use crate::project::write;
use crate::project_review::{git, open, repo, scratch, told};
use crate::stage::{Stage, over};
use crate::world::World;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use superpower::harness::Step;
use superpower::outcome::Outcome;
use superpower::project::review::{EARLIER, ReviewDir, clear};
use superpower::store::state::State;

const GATED: &str = "stages:\n  - {agent: a}\n  - {gate: human-approval}\n  - {agent: b}\n";
const DAY: i64 = 24 * 60 * 60;

/// Paths that git or earlier versions of the plugin read or write in a git directory.
const NAMES: &[&str] = &[
    "HEAD",
    "HEAD.lock",
    "config",
    "config.lock",
    "config.worktree",
    "commondir",
    "gitdir",
    "index",
    "index.lock",
    "no-index",
    "snapshot.lock",
    "seeded",
    "shallow",
    "packed-refs",
    "sharedindex.0123456789012345678901234567890123456789",
    "info/exclude",
    "info/attributes",
    "info/grafts",
    "info/sparse-checkout",
    "objects/info/alternates",
    "objects/info/packs",
    "objects/pack",
    "objects/17",
    "refs/heads",
    "hooks",
    "logs",
    "worktrees",
    "modules",
];

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn notices(events: &[Value]) -> usize {
    events.iter().filter(|event| event["message"].as_str().is_some_and(|text| text.contains(EARLIER))).count()
}

/// Runs to the end, with a list at the gate.
fn reviewed(world: &World) {
    world.hook("[ $1 = a ] && date +%N > plan.md; echo done");
    world.run("gated", json!({}));
    assert_eq!(world.settled()["reason"], "gate");
    let review = world.ok("review", json!({}));
    assert_eq!(review["note"], Value::Null, "{review}");
    let listed = review["files"].as_array().unwrap().iter().any(|file| file["path"] == "plan.md");
    assert!(listed, "{review}");
    assert!(world.ok("diff", json!({ "path": "plan.md" })).is_object());
    world.ok("decide", json!({ "decision": "approve" }));
    assert_eq!(world.settled()["state"], "complete");
}

#[test]
fn what_lies_in_the_earlier_place_is_left_alone_and_told_once() {
    for link in [true, false] {
        let mut world = World::new();
        world.declare("gated", GATED);
        let outside = world.state_dir().parent().unwrap().to_owned();
        write(&outside, "precious", "mine\n");
        let earlier = world.path(EARLIER);
        for name in NAMES {
            let path = earlier.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            if link { symlink(outside.join("precious"), &path).unwrap() } else { pipe(&path) }
        }
        reviewed(&world);
        let mut told = notices(&world.events());
        reviewed(&world);
        told += notices(&world.events());
        world.restart();
        reviewed(&world);
        told += notices(&world.events());
        assert_eq!(told, 1);
        assert_eq!(fs::read_to_string(outside.join("precious")).unwrap(), "mine\n");
        for name in NAMES {
            let kind = earlier.join(name).symlink_metadata().unwrap().file_type();
            assert!(if link { kind.is_symlink() } else { kind.is_fifo() }, "{name}");
        }
    }
}

#[test]
fn the_earlier_place_may_itself_be_anything() {
    for kind in ["link", "pipe", "file"] {
        let world = World::new();
        world.declare("gated", GATED);
        let outside = world.state_dir().parent().unwrap().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::create_dir_all(world.path(".claude/state")).unwrap();
        match kind {
            "link" => symlink(&outside, world.path(EARLIER)).unwrap(),
            "pipe" => pipe(&world.path(EARLIER)),
            _ => fs::write(world.path(EARLIER), "").unwrap(),
        }
        reviewed(&world);
        assert_eq!(notices(&world.events()), 1, "{kind}");
        assert_eq!(fs::read_dir(outside).unwrap().count(), 0);
    }
}

#[test]
fn reviews_that_a_project_brings_along_are_not_ours() {
    let world = World::new();
    world.declare("gated", GATED);
    let ours = world.reviews();
    let inner = ours.strip_prefix(world.state_dir()).unwrap();
    for place in [".claude/state", ".claude", "superpower", "state"] {
        let planted = world.path(place).join(inner);
        fs::create_dir_all(&planted).unwrap();
        git(&world.root(), &["init", "-q", "--bare", planted.to_str().unwrap()]);
        git(&planted, &["config", "core.fsmonitor", &format!("touch {}", world.path("ran").display())]);
    }
    reviewed(&world);
    assert!(!world.path("ran").exists());
    assert!(ours.join("index").is_file());
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&ours), 0o700);
    assert_eq!(mode(ours.parent().unwrap()), 0o700);
    assert_eq!(mode(&world.state_dir()), 0o700);
    let root = fs::read(ours.parent().unwrap().join("root")).unwrap();
    assert_eq!(root, world.root().as_os_str().as_encoded_bytes());
}

#[test]
fn a_state_that_cannot_be_written_is_a_note_and_never_written_through_a_link() {
    let (_dir, top) = scratch();
    write(&top, "project/a", "1\n");
    write(&top, "file", "mine\n");
    for state in ["file", "file/below"] {
        let note = open(&top.join("project"), &top.join(state)).unwrap_err().to_string();
        assert!(note.contains("the state directory") && note.contains("cannot be written"), "{note}");
    }
    assert_eq!(fs::read_to_string(top.join("file")).unwrap(), "mine\n");

    let world = World::new();
    world.declare("gated", GATED);
    fs::create_dir_all(world.state_dir()).unwrap();
    fs::create_dir_all(top.join("target")).unwrap();
    symlink(top.join("target"), world.state_dir().join("reviews")).unwrap();
    world.run("gated", json!({}));
    assert_eq!(world.settled()["reason"], "gate");
    let review = world.ok("review", json!({}));
    let note = review["note"].as_str().unwrap();
    assert!(note.contains("the state directory") && note.contains("cannot be written"), "{note}");
    assert_eq!(review["files"], json!([]));
    assert_eq!(fs::read_dir(top.join("target")).unwrap().count(), 0);
}

/// A project's review directory, after a snapshot was taken.
fn looked_at(root: &Path, state: &Path) -> PathBuf {
    fs::create_dir_all(root).unwrap();
    write(root, "a", "1\n");
    open(root, state).unwrap().snapshot().unwrap();
    ReviewDir::of(&State::at(Some(state)).unwrap(), root).git().parent().unwrap().to_owned()
}

#[test]
fn the_reviews_of_a_project_that_is_gone_for_thirty_days_are_cleared() {
    let (_dir, top) = scratch();
    let dir = top.join("state");
    let state = State::at(Some(&dir)).unwrap();
    let (here, gone) = (looked_at(&top.join("here"), &dir), looked_at(&top.join("gone"), &dir));
    let unnamed = dir.join("reviews/unnamed");
    fs::create_dir_all(&unnamed).unwrap();
    fs::rename(top.join("gone"), top.join("away")).unwrap();
    clear(&state, 1000 * DAY);
    clear(&state, 1029 * DAY);
    assert!(gone.is_dir() && unnamed.is_dir());
    // The project's disk is mounted again.
    fs::rename(top.join("away"), top.join("gone")).unwrap();
    clear(&state, 1029 * DAY);
    fs::rename(top.join("gone"), top.join("away")).unwrap();
    clear(&state, 1029 * DAY + DAY / 2);
    clear(&state, 1030 * DAY);
    assert!(gone.is_dir(), "counted from when it was gone again");
    assert!(!unnamed.exists(), "what names no project is nobody's");
    // The stored time is in the future.
    clear(&state, 900 * DAY);
    clear(&state, 929 * DAY);
    assert!(gone.is_dir());
    clear(&state, 930 * DAY);
    assert!(!gone.exists() && here.is_dir());
    assert!(top.join("away/a").is_file(), "what is cleared is ours");
}

#[test]
fn a_run_that_starts_clears() {
    let stage = Stage::new(|_| vec![Step::End(Outcome::Passed, "done".into())]);
    let (_dir, top) = scratch();
    let gone = looked_at(&top.join("gone"), stage.host.keys.state().unwrap().dir());
    fs::remove_dir_all(top.join("gone")).unwrap();
    let until = |what: &dyn Fn() -> bool| {
        let end = Instant::now() + Duration::from_secs(30);
        while !what() {
            assert!(Instant::now() < end, "waited in vain");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    over(&stage.start("  - {agent: a}\n"));
    until(&|| gone.join("gone-since").is_file());
    stage.passes(chrono::Duration::days(31));
    over(&stage.start("  - {agent: a}\n"));
    until(&|| !gone.exists());
}

/// Bytes that cannot be compressed.
fn noise(seed: u64) -> Vec<u8> {
    let mut state = seed;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..1 << 20).map(next).collect()
}

#[test]
fn what_is_kept_is_bounded_and_what_matters_least_goes_first() {
    let (_dir, top) = scratch();
    let root = top.join("repo");
    repo(&root);
    let review = open(&root, &top.join("state")).unwrap();
    let trees = [1, 2, 3].map(|seed| {
        fs::write(root.join("large"), noise(seed)).unwrap();
        review.snapshot().unwrap()
    });
    let [a, b, c] = trees;
    let runs = || vec![vec![c.clone()], vec![b.clone()], vec![a.clone()]];
    let megabyte = 1 << 20;
    review.prune(4 * megabyte, || panic!("nobody need be asked")).unwrap();
    review.changes(&a, &c).unwrap();
    review.prune(5 * megabyte / 2, runs).unwrap();
    let error = review.changes(&a, &c).unwrap_err().to_string();
    assert!(error.ends_with("what the files were at the last approval is not kept any more"), "{error}");
    assert!(review.changes(&b, &c).is_err());
    // The newest objects, and those of the user's repository, are kept.
    assert_eq!(told(&review, &c), [""; 0]);
    write(&root, "src/b.rs", "bb\n");
    assert_eq!(told(&review, &c), ["~ src/b.rs +1 -1"]);
    assert_eq!(git(&root, &["fsck"]), "");
}

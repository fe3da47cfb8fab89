//! A repository may contain something else in place of a file. It is refused at once with a message that names it, and
//! nothing outside of the project is read or written, or blocks.

use crate::world::World;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

/// Something in the place of a file.
#[derive(Clone, Copy, Debug)]
pub enum Planted {
    /// A pipe without a writer.
    Fifo,
    /// A link to a file outside.
    LinkToFile,
    /// A link to a directory outside.
    LinkToFolder,
    /// A link to an endless device.
    LinkToDevice,
    /// A file of a hundred gigabytes.
    Huge,
    Folder,
    Socket,
}

impl Planted {
    pub const ALL: [Self; 7] = [
        Self::Fifo,
        Self::LinkToFile,
        Self::LinkToFolder,
        Self::LinkToDevice,
        Self::Huge,
        Self::Folder,
        Self::Socket,
    ];

    /// Puts it in the place of the file.
    pub fn plant(self, path: &Path, outside: &Outside) {
        match path.symlink_metadata() {
            Ok(there) if there.is_dir() => fs::remove_dir_all(path).unwrap(),
            Ok(_) => fs::remove_file(path).unwrap(),
            Err(_) => {}
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match self {
            Self::Fifo => fifo(path),
            Self::LinkToFile => symlink(outside.path().join("file"), path).unwrap(),
            Self::LinkToFolder => symlink(outside.path().join("folder"), path).unwrap(),
            Self::LinkToDevice => symlink("/dev/zero", path).unwrap(),
            Self::Huge => fs::File::create(path).unwrap().set_len(100 << 30).unwrap(),
            Self::Folder => fs::create_dir(path).unwrap(),
            Self::Socket => {
                // A socket's path has at most 107 bytes.
                let made = tempfile::tempdir().unwrap();
                let socket = made.path().join("s");
                drop(UnixListener::bind(&socket).unwrap());
                if fs::rename(&socket, path).is_err() {
                    fifo(path);
                }
            }
        }
    }
}

fn fifo(path: &Path) {
    let path = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: the string ends in a NUL and outlives the call.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
}

/// A directory outside of the project, which must not change.
pub struct Outside {
    dir: tempfile::TempDir,
    before: BTreeMap<PathBuf, (Vec<u8>, i64, i64)>,
}

impl Outside {
    /// With a file and a directory that look like a run's.
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("folder/inner")).unwrap();
        fs::write(dir.path().join("file"), "export PRECIOUS=1\n").unwrap();
        for name in ["squad.json", "summary.json", "output.log", "prompt.md", "inner/SKILL.md", "one.yaml"] {
            fs::write(dir.path().join("folder").join(name), "theirs").unwrap();
        }
        let before = contents(dir.path());
        Self { dir, before }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Fails if anything in it was changed or added.
    pub fn is_untouched(&self, what: &str) {
        assert_eq!(contents(self.path()), self.before, "outside of the project: {what}");
    }
}

fn contents(dir: &Path) -> BTreeMap<PathBuf, (Vec<u8>, i64, i64)> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let meta = entry.metadata().unwrap();
        let bytes = if meta.is_dir() {
            all.extend(contents(&entry.path()));
            Vec::new()
        } else {
            fs::read(entry.path()).unwrap()
        };
        all.insert(entry.path(), (bytes, meta.mtime(), meta.mtime_nsec()));
    }
    all
}

const ONE: &str = "stages:\n  - {agent: a}\n";
const GATE: &str = "stages:\n  - {agent: a}\n  - {gate: human-approval}\n  - {agent: b}\n";
const RUN: &str = "01a22ef3-0000-7612-b7ab-ce84a7ad77c7";

/// A world with a run at its gate, and the directory for the first attempt of its last stage.
fn at_the_gate() -> (World, String) {
    let world = World::new();
    world.declare("gate", GATE);
    let id = world.run("gate", json!({}));
    world.settled();
    let attempt = format!(".claude/state/runs/{id}/attempts/0002-stage-03");
    (world, attempt)
}

#[test]
fn an_agents_output_is_not_appended_to_another_file() {
    for (name, kinds) in [
        ("output.log", &Planted::ALL[..]),
        ("prompt.md", &[Planted::LinkToFile, Planted::LinkToFolder]),
        ("processes.jsonl", &[Planted::Fifo, Planted::LinkToFile]),
    ] {
        for &planted in kinds {
            let (world, attempt) = at_the_gate();
            let outside = Outside::new();
            planted.plant(&world.path(&attempt).join(name), &outside);
            world.ok("decide", json!({ "decision": "approve" }));
            let picture = world.settled();
            outside.is_untouched(&format!("{name}, {planted:?}"));
            if name == "output.log" && !matches!(planted, Planted::Huge) {
                assert_eq!(picture["state"], "paused", "{planted:?}: {picture:#}");
                let detail = picture["detail"].as_str().unwrap();
                assert!(detail.contains("output.log\" is a "), "{planted:?}: {detail}");
            }
        }
    }
}

#[test]
fn an_attempts_directory_is_never_a_link() {
    for folder in ["", "/.."] {
        let (world, attempt) = at_the_gate();
        let outside = Outside::new();
        let path = world.path(&format!("{attempt}{folder}"));
        let path = if folder.is_empty() { path } else { path.parent().unwrap().parent().unwrap().to_owned() };
        Planted::LinkToFolder.plant(&path, &outside);
        world.ok("decide", json!({ "decision": "approve" }));
        world.until("the drive to end", |picture| picture["state"] == "paused");
        outside.is_untouched(folder);
        assert!(world.events().iter().any(|event| event.to_string().contains("is a link; remove it")));
    }
}

#[test]
fn anything_in_the_place_of_squad_json_is_moved_aside_with_a_notice() {
    for (planted, says) in [
        (Planted::Fifo, "it is a pipe"),
        (Planted::LinkToFile, "it is a link"),
        (Planted::LinkToDevice, "it is a link"),
        (Planted::Huge, "it is larger than 1 MiB"),
        (Planted::Folder, "it is a folder"),
        (Planted::Socket, "it is a "),
    ] {
        let world = World::new();
        world.declare("one", ONE);
        let outside = Outside::new();
        planted.plant(&world.path(".claude/state/squad.json"), &outside);
        let message = world.refused("status", json!({}), "unreadable-squad");
        assert!(message.contains("squad.json") && message.contains(says), "{planted:?}: {message}");
        let message = world.refused("resume", json!({}), "unreadable-squad");
        assert!(message.contains("it was moved to"), "{planted:?}: {message}");
        planted.plant(&world.path(".claude/state/squad.json"), &outside);
        world.run("one", json!({}));
        assert_eq!(world.settled()["state"], "complete", "{planted:?}");
        outside.is_untouched(&format!("{planted:?}"));
    }
}

#[test]
fn a_kept_declaration_must_be_a_file_of_limited_size() {
    for planted in Planted::ALL {
        let (mut world, _) = at_the_gate();
        world.restart();
        let outside = Outside::new();
        let id = world.squad()["run_id"].as_str().unwrap().to_owned();
        planted.plant(&world.path(&format!(".claude/state/runs/{id}/declaration-1.yaml")), &outside);
        let message = world.refused("status", json!({}), "unreadable-run");
        assert!(message.contains("declaration-1.yaml\" is "), "{planted:?}: {message}");
        outside.is_untouched(&format!("{planted:?}"));
    }
}

#[test]
fn a_kept_declaration_with_an_unsafe_name_is_refused() {
    for (from, to) in [
        ("name: gate", "name: \"%{system('id')}\""),
        ("agent: b", "agent: \"--dangerously\""),
        ("{agent: b}", "{agent: b, name: \"../../x\"}"),
    ] {
        let (mut world, _) = at_the_gate();
        world.restart();
        let id = world.squad()["run_id"].as_str().unwrap().to_owned();
        let kept = format!(".claude/state/runs/{id}/declaration-1.yaml");
        let text = world.read(&kept);
        assert!(text.contains(from));
        world.write(&kept, &text.replace(from, to));
        let message = world.refused("status", json!({}), "unreadable-run");
        assert!(message.contains("name"), "{message}");
    }
}

#[test]
fn cancel_leaves_a_run_of_another_project_alone() {
    let victim = World::new();
    victim.declare("gate", GATE);
    let id = victim.run("gate", json!({}));
    victim.settled();
    let journal = victim.path(&format!(".claude/state/runs/{id}/journal.jsonl"));
    let before = fs::read(&journal).unwrap();
    let world = World::new();
    fs::create_dir_all(world.path(".claude/state/runs")).unwrap();
    let up = "../".repeat(world.root().components().count() + 2);
    let way = victim.root().strip_prefix("/").unwrap().display().to_string();
    for run_id in [
        format!("{up}{way}/.claude/state/runs/{id}"),
        victim.path(&format!(".claude/state/runs/{id}")).display().to_string(),
        "..".to_owned(),
        "-rf".to_owned(),
        format!("{id}\0"),
    ] {
        let squad =
            json!({ "active_superpower": "x", "current_stage": 1, "status": "paused", "run_id": run_id });
        world.write(".claude/state/squad.json", &squad.to_string());
        for verb in ["cancel", "resume", "retry", "skip", "pause"] {
            let message = world.refused(verb, json!({}), "unreadable-squad");
            assert!(message.contains("is not a run id"), "{verb}: {message}");
        }
        for verb in ["status", "review", "retry", "decide"] {
            let mut fields = json!({ "run_id": run_id });
            if verb == "decide" {
                fields["decision"] = json!("approve");
            }
            fs::remove_file(world.path(".claude/state/squad.json")).ok();
            let message = world.refused(verb, fields, "not-a-run-id");
            assert!(message.contains("is not a run id"), "{verb}: {message}");
        }
    }
    assert_eq!(fs::read(&journal).unwrap(), before);
    assert_eq!(victim.status()["state"], "paused");
}

#[test]
fn a_squad_that_names_no_superpower_is_refused() {
    let world = World::new();
    for name in ["../x", "%{system('id')}", "a\u{1b}[2Jb", "-x", "a b"] {
        let squad = json!({ "active_superpower": name, "current_stage": 1, "status": "paused" });
        world.write(".claude/state/squad.json", &squad.to_string());
        let message = world.refused("resume", json!({}), "unreadable-squad");
        assert!(message.contains("is not the name of a superpower"), "{message}");
        assert!(!message.contains('\u{1b}'), "{message:?}");
    }
}

#[test]
fn a_foreign_summary_is_shown_only_with_a_valid_name_and_state() {
    let (theirs, _) = at_the_gate();
    let id = theirs.squad()["run_id"].as_str().unwrap().to_owned();
    let path = format!(".claude/state/runs/{id}/summary.json");
    let good: serde_json::Value = serde_json::from_str(&theirs.read(&path)).unwrap();
    let shown = theirs.ok("runs", json!({}))[0].clone();
    let world = World::new();
    for (field, value) in [
        ("run_id", "../x"),
        ("run_id", RUN),
        ("superpower", "%{1}"),
        ("superpower", "a\u{1b}[2J"),
        ("state", "sudo"),
        ("summary", "a\u{1b}[2J\nb"),
        ("about", "c\u{202e}"),
    ] {
        let mut summary = good.clone();
        summary[field] = json!(value);
        theirs.write(&path, &summary.to_string());
        // Our summary is made from the journal if its seal is invalid.
        assert_eq!(theirs.ok("runs", json!({}))[0], shown, "{field}: {value}");
        // Of a foreign one only harmless fields are shown.
        world.write(&path, &summary.to_string());
        let listed = world.ok("runs", json!({})).to_string();
        for shown in [value, "u001b", "sudo", "..", "%{"] {
            assert!(!listed.contains(shown) || shown == RUN, "{field}: {listed}");
        }
    }
}

#[test]
fn a_directory_with_an_invalid_run_id_is_not_a_run() {
    let world = World::new();
    for name in [RUN, "b", "a", "..x", "a b", "-a", ".foreign-a-1", "é"] {
        fs::create_dir_all(world.path(&format!(".claude/state/runs/{name}"))).unwrap();
    }
    world.write(".claude/state/runs/file", "x");
    assert_eq!(superpower::store::rundir::ids(&world.root()), ["b", "a", RUN]);
    assert_eq!(world.ok("runs", json!({})), json!([]));
}

#[test]
fn a_lock_holders_names_are_cleaned() {
    let world = World::new();
    let Ok(superpower::store::lease::Taken::Ours(mut lease)) = superpower::store::lease::take(&world.root())
    else {
        panic!("not free");
    };
    let mut holder = superpower::store::lease::Holder {
        pid: 1,
        run_id: RUN.into(),
        superpower: "team/deploy".into(),
        since: 0,
    };
    lease.sign(&holder).unwrap();
    assert_eq!(superpower::store::lease::holder(&world.root()), Some(Some(holder.clone())));
    holder.superpower = "%{system('id')}".into();
    lease.sign(&holder).unwrap();
    assert_eq!(superpower::store::lease::holder(&world.root()), Some(None));
}

#[test]
fn only_the_plugins_own_files_are_read() {
    let (world, _) = at_the_gate();
    let id = world.squad()["run_id"].as_str().unwrap().to_owned();
    let path = format!(".claude/state/runs/{id}/attempts/0001-stage-01/output.log");
    world.write(&path, "0123456789");
    let whole = world.path(&path);
    for (fields, text, from) in [
        (json!({ "path": path }), "0123456789", 0),
        (json!({ "path": whole, "from": 3, "most": 4 }), "3456", 3),
        (json!({ "path": path, "from": -3 }), "789", 7),
        (json!({ "path": path, "from": -30 }), "0123456789", 0),
        (json!({ "path": path, "from": 30 }), "", 10),
    ] {
        let part = world.ok("read-file", fields);
        assert_eq!(part, json!({ "text": text, "from": from, "size": 10 }));
    }
    assert_eq!(world.ok("read-file", json!({ "path": ".claude/logs/none" })), json!(null));
    for path in ["/etc/passwd", "agent-hook", ".claude/superpowers/gate.yaml", ".claude/stateful"] {
        world.refused("read-file", json!({ "path": path }), "not-ours");
    }
    world.refused("read-file", json!({ "path": ".claude/state/../../bin/agent" }), "unreadable-file");
    let outside = Outside::new();
    for planted in [Planted::Fifo, Planted::LinkToFile, Planted::LinkToDevice, Planted::Folder] {
        planted.plant(&whole, &outside);
        let message = world.refused("read-file", json!({ "path": path }), "unreadable-file");
        assert!(message.contains("output.log\" is a "), "{message}");
    }
    Planted::Huge.plant(&whole, &outside);
    assert_eq!(world.ok("read-file", json!({ "path": path, "from": -5 }))["text"], "\0\0\0\0\0");
}

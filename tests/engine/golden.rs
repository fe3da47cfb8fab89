//! Journals of format 1 stay readable: the result of replaying them is stored beside them, and they must not change.
//!
//! `tests/fixtures/journals/NAME/` is a run's directory as a released version has written it, with `expected.json`.
//! A new format gets new directories. These are never written again.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use superpower::run::state::Run;
use superpower::run::{event::Decision, snapshot::snapshot};
use superpower::runs::open::open;
use superpower::store::journal::{self, FORMAT, Place};
use superpower::store::keyring::Keyring;
use superpower::store::rundir::RunDir;

/// Each directory with the digest of its journal and declarations.
const GOLDEN: &[(&str, &str)] = &[
    ("adopted", "9ce38703be3691ce"),
    ("at-gate", "ec371590f8092834"),
    ("auth", "50b64bf6fb68e563"),
    ("blocked", "640e43c2ad2d1631"),
    ("cancelled", "a93a2097bfe86bc8"),
    ("complete", "14d8e456d2640904"),
    ("editor-needed", "e196d5671bfc9d95"),
    ("exited", "de421cf137c358a5"),
    ("failed", "1abd0fb0a7a61fdf"),
    ("failed-for-good", "acc6879079c7d608"),
    ("interrupted", "959409b93f713368"),
    ("limited", "0181b853bf390555"),
    ("needs-human", "6ba4a5ca0b920844"),
    ("rejected", "faaa3ed2122023bc"),
    ("reopened", "6021ec6c0a09e15e"),
    ("replaced", "cd8d3f5571637d66"),
    ("reviewed", "62a5feda1c01b679"),
    ("skipped", "8c0588017f638ff2"),
    ("trust", "8d0f3ea17098e521"),
];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/journals")
}

/// The run's id, which is also the name of its directory.
fn id(name: &str) -> String {
    format!("0198a000-0000-7000-8000-{name:0>12}")
}

/// A project that has these runs.
fn project() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (name, _) in GOLDEN {
        let to = root.path().join(".claude/state/runs").join(id(name));
        fs::create_dir_all(&to).unwrap();
        for entry in fs::read_dir(fixtures().join(name)).unwrap() {
            let from = entry.unwrap().path();
            fs::copy(&from, to.join(from.file_name().unwrap())).unwrap();
        }
    }
    root
}

/// The state of a replayed run, without values that depend on the time zone or the current time.
fn told(run: &Run) -> Value {
    let picture = snapshot(run, run.updated_at);
    let keys = |of: &Value, keys: &[&str]| -> Value {
        keys.iter().map(|&key| (key.to_owned(), of[key].clone())).collect::<serde_json::Map<_, _>>().into()
    };
    let mut told = keys(
        &picture,
        &[
            "run_id",
            "superpower",
            "version",
            "state",
            "reason",
            "detail",
            "current_stage",
            "total",
            "started_at",
            "updated_at",
            "ended_at",
            "active_ms",
            "gate",
            "waiting_until",
            "summary",
            "usage",
            "facts",
        ],
    );
    let stages = picture["stages"].as_array().unwrap();
    told["stages"] = stages
        .iter()
        .map(|stage| keys(stage, &["label", "mark", "visit", "attempt", "elapsed_ms", "launch", "usage"]))
        .collect();
    told["results"] = run.stages.iter().map(|stage| json!(stage.result)).collect();
    told["sessions"] = run.stages.iter().map(|stage| json!(stage.session)).collect();
    told["processes"] = json!(run.processes());
    let decision = |it: &superpower::run::state::GateRecord| {
        let word = match it.decision {
            Decision::Approve => "approve",
            Decision::Changes => "changes",
            Decision::Reject => "reject",
        };
        json!({ "gate": format!("{}.{}", it.stage + 1, it.visit), "decision": word, "comment": it.comment, "by": it.by, "digest": it.digest })
    };
    told["decisions"] = run.decisions.iter().map(decision).collect();
    told
}

#[test]
fn journals_of_format_1_are_read_unchanged() {
    let root = project();
    for (name, _) in GOLDEN {
        let opened = open(root.path(), &id(name), &Keyring::default())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(!opened.contents.torn && opened.contents.format == 1, "{name}");
        let told = told(&opened.run);
        let path = fixtures().join(name).join("expected.json");
        let expected = fs::read_to_string(&path).unwrap_or_default();
        let shown = serde_json::to_string_pretty(&told).unwrap() + "\n";
        if expected.is_empty() && std::env::var_os("SUPERPOWER_GOLDEN").is_some() {
            fs::write(&path, shown).unwrap();
        } else {
            assert_eq!(shown, expected, "{name}");
        }
    }
}

#[test]
fn golden_journals_are_unchanged() {
    let mut there: Vec<String> = fs::read_dir(fixtures())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    there.sort();
    let mut known: Vec<&str> = GOLDEN.iter().map(|(name, _)| *name).collect();
    known.sort_unstable();
    assert_eq!(there, known);
    for (name, digest) in GOLDEN {
        let mut files: Vec<PathBuf> =
            fs::read_dir(fixtures().join(name)).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let mut hash = Sha256::new();
        for file in files.iter().filter(|file| !file.ends_with("expected.json")) {
            hash.update(file.file_name().unwrap().as_encoded_bytes());
            hash.update(fs::read(file).unwrap());
        }
        let found: String = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            &found, digest,
            "{name}: journals that users have are read as they are; a new format gets a directory of its own"
        );
    }
}

/// Together they contain every kind of record and field, so that renaming one fails this test.
#[test]
fn the_golden_journals_contain_every_event_and_outcome() {
    let mut seen = BTreeSet::new();
    for (name, _) in GOLDEN {
        let text = fs::read_to_string(fixtures().join(name).join("journal.jsonl")).unwrap();
        for line in text.lines().skip(1) {
            let record: Value = serde_json::from_str(line).unwrap();
            seen.insert(format!("event {}", record["event"].as_str().unwrap()));
            if let Some(outcome) = record["outcome"]["outcome"].as_str() {
                seen.insert(format!("outcome {outcome}"));
            }
            if let Some(decision) = record["decision"].as_str() {
                seen.insert(format!("decision {decision}"));
            }
        }
    }
    let variants = |file: &str, name: &str, kind: &str| -> BTreeSet<String> {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
        let body = text.split(&format!("pub enum {name} {{")).nth(1).unwrap();
        let body = body.split("\n}").next().unwrap();
        let variants = body.lines().filter_map(|line| {
            let line = line.strip_prefix("    ")?;
            let word: String = line.chars().take_while(|letter| letter.is_alphanumeric()).collect();
            word.starts_with(char::is_uppercase).then(|| {
                let dashed = word.chars().enumerate().map(|(at, letter)| {
                    let dash = if at > 0 && letter.is_uppercase() { "-" } else { "" };
                    format!("{dash}{}", letter.to_lowercase())
                });
                format!("{kind} {}", dashed.collect::<String>())
            })
        });
        variants.collect()
    };
    let mut all = variants("src/run/event.rs", "Event", "event");
    all.extend(variants("src/outcome.rs", "Outcome", "outcome"));
    all.extend(variants("src/run/event.rs", "Decision", "decision"));
    assert!(all.len() > 20, "{all:?}");
    assert_eq!(seen, all);
    assert_eq!(FORMAT, 2, "a new format needs golden journals of its own");
}

/// A torn last line is dropped. A damaged line before it cannot come from a crash, so it is reported.
#[test]
fn every_prefix_of_a_journal_is_a_run() {
    let root = project();
    let place = Place::new(&RunDir::of(root.path(), &id("complete")).unwrap(), &Keyring::default());
    let path = place.path().to_owned();
    let bytes = fs::read(&path).unwrap();
    let first = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).unwrap().0 + 1;
    let ends = (first..bytes.len()).step_by(41).chain([bytes.len() - 1, bytes.len()]);
    for end in ends {
        fs::write(&path, &bytes[..end]).unwrap();
        let contents = journal::read(&place).unwrap();
        let whole = bytes[..end].iter().rposition(|&byte| byte == b'\n').unwrap() + 1;
        assert_eq!((contents.length as usize, contents.torn), (whole, whole < end));
        if end % 7 == 0 {
            open(root.path(), &id("complete"), &Keyring::default()).unwrap();
        }
    }
    let mut broken = bytes.clone();
    broken[first + 3] = b'#';
    fs::write(&path, &broken).unwrap();
    let opened = open(root.path(), &id("complete"), &Keyring::default()).unwrap();
    assert_eq!(
        (opened.contents.damaged.map(|it| it.line), opened.contents.length as usize),
        (Some(3), first)
    );
    let second = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    for (at, line) in [(0, 1), (second, 2)] {
        let mut broken = bytes.clone();
        broken[at] = b'#';
        fs::write(&path, &broken[..]).unwrap();
        match open(root.path(), &id("complete"), &Keyring::default()) {
            Err(error) => {
                assert!(error.to_string().contains(&format!("is damaged at line {line}")), "{error}")
            }
            Ok(opened) => panic!("{line}: {:?}", opened.contents),
        }
    }
}

//! Damage in a journal that no crash causes: the journal is kept, the damage reported, and the run continued from the
//! last good record.

use crate::world::World;
use serde_json::json;
use std::fs;

const STAGES: &str =
    "stages:\n  - {agent: a}\n  - {gate: human-approval}\n  - {agent: b}\n  - {gate: human-approval}\n";

/// Changes a line.
type Damage<'a> = &'a dyn Fn(&str) -> Vec<u8>;

/// A run at its second gate; in its journal, the line that contains `from` is changed by `to`.
fn damaged(from: &str, to: impl Fn(&str) -> Vec<u8>) -> (World, String, Vec<u8>) {
    let mut world = World::new();
    world.declare("two", STAGES);
    let run_id = world.run("two", json!({}));
    world.settled();
    world.ok("decide", json!({ "decision": "approve" }));
    assert_eq!(world.settled()["gate"]["id"], "4.1");
    world.restart();
    let journal = format!(".claude/state/runs/{run_id}/journal.jsonl");
    let text = world.read(&journal);
    let at = text.find(from).unwrap();
    let line = text[..at].rfind('\n').unwrap() + 1;
    let end = at + text[at..].find('\n').unwrap();
    let bytes = [&text.as_bytes()[..line], &to(&text[line..end]), &text.as_bytes()[end..]].concat();
    fs::write(world.path(&journal), &bytes).unwrap();
    (world, journal, bytes)
}

fn kept(world: &World, journal: &str) -> Vec<Vec<u8>> {
    let dir = world.path(journal).parent().unwrap().to_owned();
    let files = fs::read_dir(dir).unwrap().map(|file| file.unwrap().path());
    let aside = files.filter(|path| path.to_string_lossy().contains("journal.jsonl.corrupt-"));
    aside.map(|path| fs::read(path).unwrap()).collect()
}

#[test]
fn a_damaged_journal_is_kept_and_the_run_continues_if_the_user_agrees() {
    let garbage: [Damage; 4] = [
        &|line| line.replace('{', "#").into_bytes(),
        &|line| line.as_bytes()[..line.len() / 2].to_vec(),
        &|_| vec![0; 700],
        &|line| line.replace("approve", "APPROVE").into_bytes(),
    ];
    for (at, to) in garbage.into_iter().enumerate() {
        let (world, journal, bytes) = damaged("\"gate-decided\"", to);
        // Viewing changes nothing and reports the damage, in the list too. The lost stage is asked about again.
        let picture = world.status();
        assert_eq!((&picture["state"], &picture["reason"]), (&json!("paused"), &json!("damaged")), "{at}");
        assert!(picture["detail"].as_str().unwrap().contains("is damaged at byte"), "{at}: {picture:#}");
        let listed = world.ok("runs", json!({}));
        assert_eq!((&listed[0]["superpower"], &listed[0]["reason"]), (&json!("two"), &json!("damaged")));
        assert!(listed[0]["summary"].as_str().unwrap().contains("damaged at byte"), "{listed}");
        for (op, fields) in
            [("resume", json!({})), ("decide", json!({ "decision": "approve" })), ("retry", json!({}))]
        {
            let message = world.refused(op, fields, "damaged-journal");
            assert!(message.contains("answer=repair") && message.contains("stage 2/4"), "{message}");
        }
        assert_eq!(fs::read(world.path(&journal)).unwrap(), bytes);
        world.ok("resume", json!({ "answer": "repair,go-on" }));
        let picture = world.settled();
        assert_eq!(kept(&world, &journal), [bytes], "{at}");
        assert_eq!(picture["gate"]["id"], "2.1", "{at}: {picture:#}");
        world.ok("decide", json!({ "decision": "approve" }));
        assert_eq!(world.settled()["gate"]["id"], "4.1", "{at}");
        let said = world.events().into_iter().find(|it| it["type"] == "notice" && it["level"] == "warn");
        let said = said.unwrap()["message"].as_str().unwrap().to_owned();
        assert!(said.contains("damaged at line") && said.contains(".corrupt-"), "{said}");
        world.ok("decide", json!({ "decision": "approve" }));
        assert_eq!(world.settled()["state"], "complete");
        assert_eq!(kept(&world, &journal).len(), 1, "the mended one is sound");
    }
}

/// Lines of others between or after ours are moved aside, reported, and never trusted.
#[test]
fn a_foreign_line_is_moved_aside_with_a_notice() {
    let (world, journal, bytes) =
        damaged("\"gate-decided\"", |line| [line.as_bytes(), b"\n\xff\xfe not ours"].concat());
    assert_eq!(world.status()["reason"], "gate");
    world.ok("resume", json!({}));
    assert_eq!(world.settled()["gate"]["id"], "4.1");
    assert_eq!(kept(&world, &journal), [bytes]);
    let said = world.events().into_iter().find(|it| it["type"] == "notice" && it["level"] == "warn");
    let said = said.unwrap()["message"].as_str().unwrap().to_owned();
    assert!(said.contains("1 line in the journal of two") && said.contains(".corrupt-"), "{said}");
    world.ok("decide", json!({ "decision": "approve" }));
    assert_eq!(world.settled()["state"], "complete");
}

#[test]
fn a_journal_without_a_start_does_not_block_other_runs() {
    let (world, journal, bytes) = damaged("\"run-started\"", |_| b"nothing".to_vec());
    for op in ["resume", "retry", "pause"] {
        let message = world.refused(op, json!({}), "unreadable-run");
        assert!(message.contains("damaged at line 2") && message.contains("start it again"), "{message}");
    }
    world.run("two", json!({}));
    assert_eq!(world.settled()["gate"]["id"], "2.1");
    assert_eq!(fs::read(world.path(&journal)).unwrap(), bytes, "it is left as it is");
}

#[test]
fn a_journal_that_cannot_be_copied_is_not_repaired() {
    let (world, journal, bytes) = damaged("\"gate-decided\"", |_| b"nothing".to_vec());
    let failing = crate::disk_faults::Failing::with(world.root(), libc::ENOSPC, |op, path| {
        let ours = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with("journal.jsonl");
        op != superpower::store::disk::Op::Read && path.file_name().is_some_and(ours)
    });
    world.refused("resume", json!({ "answer": "repair" }), "disk");
    assert_eq!(fs::read(world.path(&journal)).unwrap(), bytes);
    drop(failing);
    world.ok("resume", json!({ "answer": "repair" }));
    assert_eq!(world.settled()["gate"]["id"], "2.1");
}

/// No verb can continue it; every verb says what works instead, and that works.
#[test]
fn an_unreadable_run_can_be_cancelled() {
    type Loss = fn(&std::path::Path);
    let lose: [(&str, Loss); 4] = [
        ("the declaration", |dir| fs::remove_file(dir.join("declaration-1.yaml")).unwrap()),
        ("the journal", |dir| fs::remove_file(dir.join("journal.jsonl")).unwrap()),
        ("its text", |dir| fs::write(dir.join("journal.jsonl"), "no journal\n\n\n").unwrap()),
        ("all of it", |dir| fs::remove_dir_all(dir).unwrap()),
    ];
    for (what, lose) in lose {
        let world = World::new();
        world.declare("lost", "stages:\n  - {agent: a}\n  - {gate: human-approval}\n  - {agent: b}\n");
        let run_id = world.run("lost", json!({}));
        assert_eq!(world.settled()["reason"], "gate");
        lose(&world.path(&format!(".claude/state/runs/{run_id}")));
        for (op, fields) in [
            ("resume", json!({})),
            ("resume", json!({ "answer": "new" })),
            ("decide", json!({ "decision": "approve" })),
            ("retry", json!({})),
            ("skip", json!({})),
            ("pause", json!({})),
        ] {
            let message = world.call(op, fields)["err"]["message"].as_str().unwrap().to_owned();
            assert!(
                message.contains("end it with :Superpower cancel, or start again with :Superpower run lost"),
                "{what}, {op}: {message}"
            );
        }
        world.events();
        let answer = world.ok("cancel", json!({ "by": "ann" }));
        assert_eq!((&answer["run_id"], &answer["state"]), (&json!(run_id), &json!("cancelled")), "{what}");
        assert_eq!(world.squad()["status"], "cancelled", "{what}");
        assert_eq!(world.log().last().unwrap(), "CANCELLED  lost");
        let told = world.events().into_iter().find(|event| event["type"] == "run-finished");
        assert_eq!(told.unwrap()["state"], "cancelled", "{what}");
        let runs = world.ok("runs", json!({}));
        assert!(runs.as_array().unwrap().iter().all(|run| run["state"] == "cancelled"), "{what}: {runs}");
        assert_eq!(world.calls(), ["a"]);
        world.run("lost", json!({}));
        assert_eq!(world.settled()["reason"], "gate");
    }
}

//! A project to measure on.
#![allow(dead_code, reason = "each bench uses a part of it")]

use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use superpower::engine::Engine;
use superpower::run::event::Event;
use superpower::store::journal::{self, Journal, Place};
use superpower::store::keyring::Keyring;
use superpower::store::rundir::RunDir;
use superpower::store::state::State;
use superpower::store::summary;

/// What every stage does.
pub const PROGRAM: [&str; 2] = ["/bin/echo", "done"];

/// A project with one superpower, in a temporary directory, and an engine.
pub struct Project {
    pub dir: tempfile::TempDir,
    pub root: PathBuf,
    pub engine: Arc<Engine>,
}

impl Project {
    pub fn new(stages: usize) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let project = Self { root: dir.path().join("project"), dir, engine: Engine::new() };
        fs::create_dir_all(project.path(".claude/superpowers")).expect("a directory");
        let mut text = "name: many\ndescription: d\nversion: '1'\nstages:\n".to_owned();
        for stage in 1..=stages {
            text += &format!("  - {{agent: worker, description: Stage {stage}}}\n");
        }
        fs::write(project.path(".claude/superpowers/many.yaml"), text).expect("a declaration");
        let config = json!({
            "harness": "command", "trust": "always", "keep_runs": 100_000,
            "state_dir": project.dir.path().join("state"),
            "harnesses": { "command": { "cmd": PROGRAM } },
        });
        project.call("configure", json!({ "config": config }));
        project
    }

    pub fn path(&self, inner: &str) -> PathBuf {
        self.root.join(inner)
    }

    pub fn call(&self, op: &str, mut fields: Value) -> Value {
        fields["op"] = json!(op);
        if op != "configure" {
            fields["root"] = json!(self.root);
        }
        let answer: Value = serde_json::from_str(&self.engine.call(&fields.to_string())).expect("an answer");
        assert!(answer.get("ok").is_some(), "{op}: {answer}");
        answer["ok"].clone()
    }

    /// Runs it to its end; polls as an editor does.
    pub fn run(&self) -> String {
        let run_id =
            self.call("run", json!({ "name": "many" }))["run_id"].as_str().expect("an id").to_owned();
        loop {
            // Not read as data: what that takes is the editor's, and it must not take the processor from what is measured.
            let events = self.engine.poll(200);
            let told = |what: &str| memchr::memmem::find(events.as_bytes(), what.as_bytes()).is_some();
            if told("\"type\":\"drive-ended\"") {
                break;
            }
            assert!(!told("\"type\":\"run-paused\""), "{events}");
            if events == "[]" {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        let status = self.engine.call(&json!({ "op": "status", "root": self.root }).to_string());
        assert!(status.contains("\"state\":\"complete\""), "{status}");
        run_id
    }

    /// Makes so many finished runs, as if they had been driven before.
    pub fn fill(&self, runs: usize) {
        let first = self.run();
        let from = self.path(&format!(".claude/state/runs/{first}"));
        let keys = Keyring::open(State::at(Some(&self.dir.path().join("state"))));
        let dir = RunDir::of(&self.root, &first).expect("an id");
        let mut records = journal::read(&Place::new(&dir, &keys)).expect("a journal").records;
        let mut summary = summary::read(&self.root, &first, &keys).expect("a summary").summary;
        for _ in 1..runs {
            let id = uuid::Uuid::now_v7().to_string();
            let to = self.path(&format!(".claude/state/runs/{id}"));
            fs::create_dir_all(&to).expect("a directory");
            fs::copy(from.join("declaration-1.yaml"), to.join("declaration-1.yaml")).expect("a file");
            fs::write(to.join("journal.jsonl"), "").expect("a file");
            if let Event::RunStarted { run_id, .. } = &mut records[0].event {
                run_id.clone_from(&id);
            }
            let dir = RunDir::of(&self.root, &id).expect("an id");
            Journal::rewrite(&Place::new(&dir, &keys), &records).expect("a journal");
            summary.run_id = id;
            summary::write(&self.root, &summary, &keys).expect("a summary");
        }
    }

    /// An engine that has seen nothing of the project yet.
    pub fn another_engine(&self) -> Arc<Engine> {
        let engine = Engine::new();
        let config = json!({ "state_dir": self.dir.path().join("state") });
        engine.call(&json!({ "op": "configure", "config": config }).to_string());
        engine
    }
}

//! Editors that are clients of a driver process.

use crate::world::World;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};
use superpower::engine::Home;
use superpower::server::Router;
use superpower::server::socket_path::SocketPath;

pub const LONG: Duration = Duration::from_secs(30);

/// An editor on a project.
pub struct Editor {
    pub router: Router,
    pub root: PathBuf,
    asked: u64,
    /// Events that came and were not looked at yet.
    pub events: Vec<Value>,
    /// The types of all that came.
    heard: Vec<Value>,
}

impl Editor {
    pub fn of(world: &World) -> Self {
        Self::configured(world, json!({}))
    }

    pub fn configured(world: &World, more: Value) -> Self {
        let mut config = json!({
            "harness": "command", "trust": "always", "timeout": "1m", "state_dir": world.state_dir(),
            "harnesses": { "command": { "cmd": [world.path("bin/agent"), "{agent}{skill}"] } },
            "driver": "process",
        });
        more.as_object().unwrap().iter().for_each(|(key, value)| config[key] = value.clone());
        let editor = Self {
            router: Router::new(Home::Editor),
            root: world.root(),
            asked: 0,
            events: Vec::new(),
            heard: Vec::new(),
        };
        let answer = editor.router.call(&json!({ "op": "configure", "config": config }).to_string());
        assert_eq!(answer, r#"{"ok":{}}"#);
        editor
    }

    pub fn poll(&mut self) {
        let some: Vec<Value> = serde_json::from_str(&self.router.engine().poll(200)).unwrap();
        if some.is_empty() {
            std::thread::sleep(Duration::from_millis(2));
        }
        self.heard.extend(some.iter().map(|event| event["type"].clone()));
        self.events.extend(some);
    }

    /// Waits until an event of this type has come, before or from now on.
    pub fn until_heard(&mut self, kind: &str) {
        let end = Instant::now() + LONG;
        while !self.heard.contains(&json!(kind)) {
            assert!(Instant::now() < end, "waited in vain for {kind}: {:?}", self.heard);
            self.poll();
        }
    }

    /// Waits for an event, and takes it with all that came before it.
    pub fn wait(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + LONG;
        loop {
            if let Some(at) = self.events.iter().position(&wanted) {
                return self.events.drain(..=at).next_back().unwrap();
            }
            assert!(Instant::now() < end, "waited in vain for {what}: {:#?}", self.events);
            self.poll();
        }
    }

    pub fn wait_for(&mut self, kind: &str) -> Value {
        self.wait(kind, |event| event["type"] == kind)
    }

    /// Waits for a picture of the run in which it stands so.
    pub fn wait_for_state(&mut self, state: &str) -> Value {
        self.wait(state, |event| event["type"] == "snapshot" && event["run"]["state"] == state)["run"].take()
    }

    /// Asks as Lua does; gives the number of the question.
    pub fn ask(&mut self, op: &str, fields: Value) -> u64 {
        let mut request = fields;
        request["op"] = json!(op);
        request["root"] = json!(self.root);
        self.asked += 1;
        let ask = json!({ "op": "ask", "id": self.asked, "request": request });
        assert_eq!(self.router.call(&ask.to_string()), r#"{"ok":{}}"#);
        self.asked
    }

    pub fn answer(&mut self, id: u64) -> Value {
        self.wait("an answer", |event| event["type"] == "answered" && event["id"] == id)["answer"].take()
    }

    pub fn call(&mut self, op: &str, fields: Value) -> Value {
        let id = self.ask(op, fields);
        self.answer(id)
    }

    pub fn ok(&mut self, op: &str, fields: Value) -> Value {
        let mut answer = self.call(op, fields);
        assert!(answer.get("ok").is_some(), "{op}: {answer}");
        answer["ok"].take()
    }

    pub fn decide(&mut self, decision: &str) -> Value {
        self.ok("review", json!({}));
        self.call("decide", json!({ "decision": decision, "by": "ann" }))
    }

    /// The process that drives the project.
    pub fn driver(&self) -> Option<u32> {
        let stream = UnixStream::connect(SocketPath::of(&self.root).unwrap().socket()).ok()?;
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).ok()?;
        Some(serde_json::from_str::<Value>(&line).ok()?["pid"].as_u64().unwrap() as u32)
    }

    pub fn leave(self) {
        self.router.call(&json!({ "op": "stop", "grace_ms": 200 }).to_string());
    }
}

/// A driver is not left behind by a test.
pub struct Ends(pub u32);

impl Drop for Ends {
    fn drop(&mut self) {
        Command::new("kill").arg("-TERM").arg(self.0.to_string()).status().unwrap();
    }
}

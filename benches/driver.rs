//! What a driver process costs: until it is ready, while it has nothing to do, for a verb, for a stage, and for an editor
//! that comes late.
//!
//! `make bench`, or `cargo bench --profile torture --no-default-features --features cli --bench driver [STAGES]`. The
//! figures to hold: ready in 20 ms; 20 MB; a verb by the socket under 1 ms beside the same in process; a stage at most 5 %
//! dearer than in the editor; an attached editor shows the run within 100 ms. It judges nothing.

mod support;

use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};
use superpower::engine::Home;
use superpower::server::Router;
use superpower::server::socket_path::SocketPath;
use support::{PROGRAM, Project};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let stages: usize = args.iter().find_map(|arg| arg.parse().ok()).unwrap_or(300);
    if superpower::server::program().is_none() {
        return say("the program \"superpower\" is not beside this one: build it first; not measured");
    }
    ready();
    verbs();
    stage(stages);
    attach();
}

/// The first verb of an editor, which starts the driver.
fn ready() {
    let mut cold = Vec::new();
    let mut warm = Vec::new();
    let mut memory = String::new();
    for _ in 0..20 {
        let mut client = Client::new(1);
        let begun = Instant::now();
        client.ask("trust", json!({ "name": "many" }));
        cold.push(ms(begun.elapsed()));
        let begun = Instant::now();
        client.ask("trust", json!({ "name": "many" }));
        warm.push(ms(begun.elapsed()));
        memory = client.memory();
    }
    let started = median(&mut cold) - median(&mut warm);
    say(&format!("{:<52} {started:>9.3} ms", "a driver is started and ready, median"));
    say(&format!("{:<52} {memory:>12}", "its memory, with nothing to do"));
}

/// A view and a small verb, by the socket and in process, in turn.
fn verbs() {
    let mut client = Client::new(1);
    let local = Project::new(1);
    local.run();
    client.run();
    let (mut remote, mut here) = (Vec::new(), Vec::new());
    for _ in 0..300 {
        let begun = Instant::now();
        client.ask("status", json!({}));
        remote.push(ms(begun.elapsed()));
        let begun = Instant::now();
        local.call("status", json!({}));
        here.push(ms(begun.elapsed()));
    }
    let (remote, here) = (median(&mut remote), median(&mut here));
    say(&format!("{:<52} {here:>9.3} ms", "status of a run, in process, median"));
    say(&format!("{:<52} {remote:>9.3} ms  {:+.3} ms", "the same by the socket, median", remote - here));
}

/// A run of so many stages, in a driver and in process, in turn.
fn stage(stages: usize) {
    let (mut remote, mut here) = (Vec::new(), Vec::new());
    for _ in 0..7 {
        let mut client = Client::new(stages);
        let begun = Instant::now();
        client.run();
        remote.push(ms(begun.elapsed()) / stages as f64);
        let project = Project::new(stages);
        let begun = Instant::now();
        project.run();
        here.push(ms(begun.elapsed()) / stages as f64);
    }
    let (remote, here) = (median(&mut remote), median(&mut here));
    say(&format!("{:<52} {here:>9.3} ms", format!("a stage of {stages}, driven in the editor, median")));
    say(&format!(
        "{:<52} {remote:>9.3} ms  {:.2} x in the editor",
        format!("a stage of {stages}, in a driver, median"),
        remote / here
    ));
}

/// From an editor's first question to the picture of a run that works.
fn attach() {
    let mut first = Client::new(1);
    fs::write(first.project.path("wait"), "").expect("a file");
    let waits = first.project.path("waits.sh");
    fs::write(&waits, "#!/bin/sh\nwhile [ -e wait ]; do sleep 0.05; done\necho done\n").expect("a file");
    first.configure(json!({ "harnesses": { "command": { "cmd": ["/bin/sh", waits] } } }));
    first.ask("run", json!({ "name": "many" }));
    let mut times = Vec::new();
    for _ in 0..20 {
        let mut late = Client::on(&first.project);
        let begun = Instant::now();
        late.send("status", json!({}));
        late.wait(|event| event["type"] == "snapshot" && event["run"]["state"] == "running");
        times.push(ms(begun.elapsed()));
        late.router.call(&json!({ "op": "stop" }).to_string());
    }
    fs::remove_file(first.project.path("wait")).expect("a file");
    first.wait(|event| event["type"] == "drive-ended");
    say(&format!("{:<52} {:>9.3} ms", "an editor attaches and has the picture, median", median(&mut times)));
}

/// An editor whose runs a driver drives.
struct Client<'a> {
    router: Router,
    project: Owned<'a>,
    asked: u64,
    ends: bool,
}

enum Owned<'a> {
    Its(Project),
    Others(&'a Project),
}

impl std::ops::Deref for Owned<'_> {
    type Target = Project;

    fn deref(&self) -> &Project {
        match self {
            Self::Its(project) => project,
            Self::Others(project) => project,
        }
    }
}

impl Client<'static> {
    fn new(stages: usize) -> Self {
        Self::begin(Owned::Its(Project::new(stages)), true)
    }
}

impl<'a> Client<'a> {
    fn on(project: &'a Project) -> Self {
        Self::begin(Owned::Others(project), false)
    }

    fn begin(project: Owned<'a>, ends: bool) -> Self {
        let client = Self { router: Router::new(Home::Editor), project, asked: 0, ends };
        client.configure(json!({}));
        client
    }

    fn configure(&self, more: Value) {
        let mut config = json!({
            "harness": "command", "trust": "always", "keep_runs": 100_000, "driver": "process",
            "state_dir": self.project.dir.path().join("state"),
            "harnesses": { "command": { "cmd": PROGRAM } },
        });
        more.as_object().expect("an object").iter().for_each(|(key, value)| config[key] = value.clone());
        self.router.call(&json!({ "op": "configure", "config": config }).to_string());
    }

    fn send(&mut self, op: &str, mut fields: Value) -> u64 {
        fields["op"] = json!(op);
        fields["root"] = json!(self.project.root);
        self.asked += 1;
        self.router.call(&json!({ "op": "ask", "id": self.asked, "request": fields }).to_string());
        self.asked
    }

    fn ask(&mut self, op: &str, fields: Value) -> Value {
        let id = self.send(op, fields);
        self.wait(|event| event["type"] == "answered" && event["id"] == id)
    }

    fn wait(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let events: Vec<Value> = serde_json::from_str(&self.router.engine().poll(200)).expect("events");
            if let Some(found) = events.into_iter().find(&wanted) {
                return found;
            }
            std::thread::sleep(Duration::from_micros(50));
        }
    }

    /// Runs the superpower to its end, and polls as the one in process does.
    fn run(&mut self) {
        self.send("run", json!({ "name": "many" }));
        loop {
            let events = self.router.engine().poll(200);
            let told = |what: &str| memchr::memmem::find(events.as_bytes(), what.as_bytes()).is_some();
            if told("\"type\":\"drive-ended\"") {
                return;
            }
            assert!(!told("\"type\":\"run-paused\""), "{events}");
            if events == "[]" {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }

    fn stream(&self) -> UnixStream {
        UnixStream::connect(SocketPath::of(&self.project.root).expect("a place").socket()).expect("a driver")
    }

    fn memory(&self) -> String {
        let mut line = String::new();
        BufReader::new(self.stream()).read_line(&mut line).expect("a line");
        let pid = serde_json::from_str::<Value>(&line).expect("a hello")["pid"].clone();
        let status = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("status"));
        let status = status.unwrap_or_default();
        status.lines().find_map(|it| it.strip_prefix("VmRSS:")).unwrap_or("?").trim().to_owned()
    }
}

impl Drop for Client<'_> {
    fn drop(&mut self) {
        if self.ends {
            let mut stream = self.stream();
            let _ = writeln!(stream, "{}", json!({ "op": "leave", "id": 1, "now": true }));
            let mut reader = BufReader::new(stream);
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|read| read > 0) {
                line.clear();
            }
        }
        self.router.call(&json!({ "op": "stop" }).to_string());
    }
}

fn median(all: &mut [f64]) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

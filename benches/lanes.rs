//! How long the editor's main loop waits for the operations that it may call, in a project of 1,000 runs and 100
//! superpowers. None may take more than a millisecond; where one does, this fails.
//!
//! `make bench`, or `cargo bench --profile torture --no-default-features --bench lanes`. What counts is the middle of
//! many calls, since a busy machine takes its time between any two of them; `first` is what an engine that knows
//! nothing of the project takes. `stop` is not here: who leaves the editor waits for its agents.

mod support;

use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use superpower::engine::{Engine, Lane, lanes};
use support::Project;

const RUNS: usize = 1_000;
const SUPERPOWERS: usize = 100;
const MOST: Duration = Duration::from_millis(1);
/// Calls of each.
const TIMES: usize = 51;

fn main() -> ExitCode {
    let project = Project::new(13);
    let declaration =
        fs::read_to_string(project.path(".claude/superpowers/many.yaml")).expect("a declaration");
    for n in 1..SUPERPOWERS {
        let text = declaration.replace("name: many", &format!("name: many-{n}"));
        fs::write(project.path(&format!(".claude/superpowers/many-{n}.yaml")), text).expect("a file");
        let agents = project.path(".claude/agents");
        fs::create_dir_all(&agents).expect("a directory");
        let agent = format!("---\nname: worker-{n}\ndescription: Works\n---\nWork.\n");
        fs::write(agents.join(format!("worker-{n}.md")), agent).expect("a file");
    }
    project.fill(RUNS);
    let requests = requests(&project, &declaration);
    let mut late = Vec::new();
    let mut judge = |name: &str, times: &mut [Duration]| {
        times.sort_unstable();
        let (middle, worst) = (times[times.len() / 2], times[times.len() - 1]);
        let mark = if middle > MOST { "  TOO LONG" } else { "" };
        say(&format!("{name:<40} {:>9.3} ms, at worst {:>9.3} ms{mark}", ms(middle), ms(worst)));
        if middle > MOST {
            late.push(name.to_owned());
        }
    };
    for (name, lane) in lanes().filter(|(name, _)| *name != "stop") {
        let Some(request) = requests.iter().find(|request| request["op"] == name) else {
            assert_eq!(lane, Lane::Worker, "{name} is on the main lane and is not measured");
            continue;
        };
        let engine = project.another_engine();
        // A text that is asked about has been read, and one that is typed is not the first of its project.
        if matches!(name, "assist" | "document") {
            read(&engine, &requests);
        }
        let mut times: Vec<Duration> = (0..TIMES).map(|_| once(&engine, request)).collect();
        judge(name, &mut times);
    }
    // An engine that is new each time: fewer, since each reads the project.
    for name in ["document", "project", "project-renew"] {
        let request = requests.iter().find(|request| request["op"] == name).expect("a request");
        let mut times: Vec<Duration> = (0..11).map(|_| once(&project.another_engine(), request)).collect();
        judge(&format!("{name}, the first"), &mut times);
    }
    if late.is_empty() {
        return ExitCode::SUCCESS;
    }
    say(&format!("the main loop waits too long for: {}", late.join(", ")));
    ExitCode::FAILURE
}

/// One for each operation of the main lane, of the size that an editor sends.
fn requests(project: &Project, declaration: &str) -> Vec<Value> {
    let (root, path) = (&project.root, project.path(".claude/superpowers/many.yaml"));
    let config = json!({ "state_dir": project.dir.path().join("state") });
    let schema = json!({ "op": "ask", "id": 1, "request": { "op": "schema" } });
    vec![
        json!({ "op": "answer", "id": "nobody-1", "value": true }),
        json!({ "op": "call-user", "root": root, "title": "superpower: many", "body": "complete" }),
        schema,
        json!({ "op": "assist", "path": path, "tick": 1, "method": "complete", "position": [4, 12] }),
        json!({ "op": "configure", "config": config }),
        json!({ "op": "document", "root": root, "path": path, "text": declaration, "tick": 1 }),
        json!({ "op": "document-closed", "path": path }),
        json!({ "op": "document-part", "path": path, "tick": 1, "text": declaration, "first": true }),
        json!({ "op": "project", "file": path, "cwd": root }),
        json!({ "op": "project-renew", "root": root }),
        json!({ "op": "schema" }),
        json!({ "op": "submit", "root": root, "launch": 1, "message": "done" }),
    ]
}

/// Has the document read, however long that takes.
fn read(engine: &Engine, requests: &[Value]) {
    let request = requests.iter().find(|request| request["op"] == "document").expect("a request");
    once(engine, request);
    let ready = |engine: &Engine| {
        let answer = engine.call(&requests[2].to_string());
        answer.starts_with("{\"ok\"")
    };
    let end = Instant::now() + Duration::from_secs(20);
    while !ready(engine) {
        assert!(Instant::now() < end, "the document is not read");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn once(engine: &Engine, request: &Value) -> Duration {
    let request = request.to_string();
    let begun = Instant::now();
    let answer = engine.call(&request);
    let took = begun.elapsed();
    assert!(!answer.contains("\"bad-request\"") && !answer.contains("\"panic\""), "{answer}");
    took
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

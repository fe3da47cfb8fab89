//! A project in a temporary directory, an engine, and a shell script in the place of an agent.

use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use superpower::engine::Engine;
use superpower::run::event::Record;
use superpower::runs::open::{Opened, open};
use superpower::store::journal::{self, Place};
use superpower::store::keyring::Keyring;
use superpower::store::rundir::RunDir;
use superpower::store::state::State;

/// A project and its engine.
pub struct World {
    /// Removed with the world; `None` if the project belongs to another process.
    _dir: Option<tempfile::TempDir>,
    root: PathBuf,
    state: PathBuf,
    /// Removed with the world; `None` if the state belongs to the process that started this one.
    _state: Option<tempfile::TempDir>,
    pub engine: Arc<Engine>,
}

/// A script that reports, creates the files that the prompt names, and lists the calls.
const AGENT: &str = r#"#!/bin/sh
cat > .prompt
echo "$1" >> "$SUPERPOWER_CALLS"
if [ -x ./agent-hook ]; then ./agent-hook "$1"; exit $?; fi
echo "$1 reports"
"#;

impl World {
    /// An empty project whose agents succeed.
    pub fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("superpower-").tempdir().unwrap();
        let kept = tempfile::tempdir().unwrap();
        let mut world = Self::at(dir.path(), &kept.path().join("superpower"));
        (world._dir, world._state) = (Some(dir), Some(kept));
        world
    }

    /// The same in an existing directory, with the state directory of the process that started this one.
    pub fn at(dir: &Path, state: &Path) -> Self {
        fs::create_dir_all(dir.join(".claude/superpowers")).unwrap();
        let root = dir.canonicalize().unwrap();
        let world =
            Self { engine: Engine::new(), root, state: state.to_path_buf(), _state: None, _dir: None };
        world.write(
            "bin/agent",
            &AGENT.replace("$SUPERPOWER_CALLS", &world.path("calls").display().to_string()),
        );
        world.executable("bin/agent");
        world.configure(json!({}));
        world
    }

    /// Configures the engine: the `command` harness with the script, trust, and the given options.
    pub fn configure(&self, more: Value) {
        let agent = self.path("bin/agent");
        let mut config = json!({
            "harness": "command", "trust": "always", "timeout": "1m", "state_dir": self.state_dir(),
            "harnesses": { "command": { "cmd": [agent, "{agent}{skill}"] } },
        });
        for (key, value) in more.as_object().unwrap() {
            config[key] = value.clone();
        }
        self.ok("configure", json!({ "config": config }));
    }

    /// Another engine on the same project, like another editor.
    pub fn restart(&mut self) {
        self.call("stop", json!({ "grace_ms": 200 }));
        self.engine = Engine::new();
        self.configure(json!({}));
    }

    /// The project's root, a real path.
    pub fn root(&self) -> PathBuf {
        self.root.clone()
    }

    /// Our state directory.
    pub fn state_dir(&self) -> PathBuf {
        self.state.clone()
    }

    /// Our git directory for reviews.
    pub fn reviews(&self) -> PathBuf {
        let state = State::at(Some(&self.state_dir())).unwrap();
        superpower::project::review::ReviewDir::of(&state, &self.root).git()
    }

    /// The keys that make the runs of this world ours.
    pub fn keys(&self) -> Keyring {
        Keyring::open(State::at(Some(&self.state_dir())))
    }

    /// The file with the newest seal of a run.
    pub fn newest_seal(&self, run_id: &str) -> PathBuf {
        self.state_dir().join("newest").join(superpower::store::state::project(&self.root())).join(run_id)
    }

    /// A run as it is on disk.
    pub fn opened(&self, run_id: &str) -> Opened {
        open(&self.root(), run_id, &self.keys()).unwrap()
    }

    /// The records of a run's journal.
    pub fn records(&self, run_id: &str) -> Vec<Record> {
        let dir = RunDir::of(&self.root(), run_id).unwrap();
        journal::read(&Place::new(&dir, &self.keys())).unwrap().records
    }

    /// Cuts a journal after the first line with this text, as a crash before the next write leaves it.
    pub fn cut_journal(&self, run_id: &str, last: &str) {
        self.cut_journal_where(run_id, |text| text.find(last));
    }

    /// The same after the line at the byte that `find` returns.
    pub fn cut_journal_where(&self, run_id: &str, find: impl FnOnce(&str) -> Option<usize>) {
        let text = self.journal(run_id);
        let at = find(&text).unwrap_or_else(|| panic!("not in {text}"));
        let end = at + text[at..].find('\n').unwrap();
        self.write_journal(run_id, &text[..=end]);
    }

    /// The text of a run's journal.
    pub fn journal(&self, run_id: &str) -> String {
        self.read(&format!(".claude/state/runs/{run_id}/journal.jsonl"))
    }

    /// Writes a journal with a valid seal on each line, for tests that change a journal.
    pub fn write_journal(&self, run_id: &str, text: &str) {
        let sealer = self.keys().make_sealer("journal", &self.root(), run_id).unwrap();
        let (mut bytes, mut last) = (Vec::new(), None);
        for line in text.split_inclusive('\n') {
            if !line.ends_with('\n') {
                bytes.extend_from_slice(line.as_bytes());
                break;
            }
            let from = bytes.len();
            // The seal was inserted before the object's closing brace.
            match line.rsplit_once(",\"seal\":") {
                Some((own, _)) => bytes.extend_from_slice(format!("{own}}}").as_bytes()),
                None => bytes.extend_from_slice(line.trim_end().as_bytes()),
            }
            last = Some(sealer.close(last.as_ref(), &mut bytes, from));
        }
        self.write(&format!(".claude/state/runs/{run_id}/journal.jsonl"), "");
        fs::write(self.path(&format!(".claude/state/runs/{run_id}/journal.jsonl")), bytes).unwrap();
        self.keys().keep_newest(&self.root(), run_id).unwrap().keep(&last.unwrap());
    }

    /// A path in the project.
    pub fn path(&self, inner: &str) -> PathBuf {
        self.root().join(inner)
    }

    /// Writes a file.
    pub fn write(&self, inner: &str, text: &str) {
        let path = self.path(inner);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Makes a file executable.
    pub fn executable(&self, inner: &str) {
        fs::set_permissions(self.path(inner), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Sets what an agent does instead of reporting: a shell script that gets the agent's name.
    pub fn hook(&self, script: &str) {
        self.write("agent-hook", &format!("#!/bin/sh\n{script}\n"));
        self.executable("agent-hook");
    }

    /// Reads a file; empty if it does not exist.
    pub fn read(&self, inner: &str) -> String {
        fs::read_to_string(self.path(inner)).unwrap_or_default()
    }

    /// Declares a superpower with these stages.
    pub fn declare(&self, name: &str, body: &str) {
        let text = format!("name: {name}\ndescription: For a test\nversion: \"1.0.0\"\n{body}");
        self.write(&format!(".claude/superpowers/{name}.yaml"), &text);
    }

    /// Calls an operation with the project's root, unless it takes none.
    pub fn call(&self, op: &str, fields: Value) -> Value {
        let mut request = fields;
        request["op"] = json!(op);
        if !matches!(
            op,
            "configure"
                | "stop"
                | "answer"
                | "give-up-look"
                | "project"
                | "assist"
                | "document-closed"
                | "document-part"
        ) {
            request["root"] = json!(self.root());
        }
        serde_json::from_str(&self.engine.call(&request.to_string())).unwrap()
    }

    /// The same, which must succeed.
    pub fn ok(&self, op: &str, fields: Value) -> Value {
        let answer = self.call(op, fields);
        assert!(answer.get("ok").is_some(), "{op}: {answer}");
        answer["ok"].clone()
    }

    /// The same, which must be refused with this code. Returns the message.
    pub fn refused(&self, op: &str, fields: Value, code: &str) -> String {
        let answer = self.call(op, fields);
        assert_eq!(answer["err"]["code"], code, "{op}: {answer}");
        answer["err"]["message"].as_str().unwrap().to_owned()
    }

    /// Starts a run.
    pub fn run(&self, name: &str, inputs: Value) -> String {
        let answer = self.ok("run", json!({ "name": name, "inputs": inputs, "by": "ann" }));
        answer["run_id"].as_str().unwrap().to_owned()
    }

    /// Requests the open gate's list, as its window does. Returns the id of the list.
    pub fn look(&self) -> String {
        self.ok("review", json!({}))["review"].as_str().unwrap().to_owned()
    }

    /// Decides the open gate, as it is now.
    pub fn decide(&self, decision: &str, comment: &str) -> Value {
        self.call("review", json!({}));
        self.call("decide", json!({ "decision": decision, "comment": comment, "by": "ann" }))
    }

    /// Approves the open gate without naming a list, as a script does.
    pub fn decide_headless(&self, more: Value) -> Value {
        let mut fields = json!({ "decision": "approve", "only": true });
        more.as_object().unwrap().iter().for_each(|(key, value)| fields[key] = value.clone());
        self.call("decide", fields)
    }

    /// The run's snapshot.
    pub fn status(&self) -> Value {
        self.ok("status", json!({}))
    }

    /// Waits until the run is not running, and returns its snapshot.
    pub fn settled(&self) -> Value {
        self.until("the run to stop", |picture| picture["state"] != "running" && self.lock_free())
    }

    /// Waits until the snapshot meets the condition.
    pub fn until(&self, what: &str, mut enough: impl FnMut(&Value) -> bool) -> Value {
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            let picture = self.status();
            if enough(&picture) {
                return picture;
            }
            assert!(
                Instant::now() < end,
                "waited in vain for {what}: {picture:#}\n{}",
                self.log().join("\n")
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn lock_free(&self) -> bool {
        superpower::store::lease::holder(&self.root()).is_none()
    }

    /// The log's lines without their prefix.
    pub fn log(&self) -> Vec<String> {
        let text = self.read(".claude/logs/superpower.log");
        text.lines().map(|line| line.strip_prefix("[superpower] ").unwrap().to_owned()).collect()
    }

    /// The agents that were called, in order.
    pub fn calls(&self) -> Vec<String> {
        self.read("calls").lines().map(str::to_owned).collect()
    }

    /// `squad.json`.
    pub fn squad(&self) -> Value {
        serde_json::from_str(&self.read(".claude/state/squad.json")).unwrap()
    }

    /// `squad.json`; null where there is none.
    pub fn squad_if_there(&self) -> Value {
        serde_json::from_str(&self.read(".claude/state/squad.json")).unwrap_or_default()
    }

    /// Events that wait for the editor.
    pub fn events(&self) -> Vec<Value> {
        let mut all = Vec::new();
        loop {
            let some: Vec<Value> = serde_json::from_str(&self.engine.poll(200)).unwrap();
            if some.is_empty() {
                return all;
            }
            all.extend(some);
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.call("stop", json!({ "grace_ms": 100 }));
    }
}

/// Files of others beside the repository, for tests that are ignored if they are missing (`cfg(shared)`).
pub fn shared(inner: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared").join(inner)
}

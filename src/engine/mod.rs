//! The handle that the editor's binding holds: requests in, answers and events out.
//!
//! [`Engine::call`] takes `{"op":NAME,…}` and answers `{"ok":…}` or `{"err":{"code","message","data"?}}`. An operation
//! is a function over a typed request; [`ops`] has the table.

mod admission;
mod adoption;
mod asks;
mod assist;
mod checks;
mod declarations;
mod documents;
pub mod drill;
mod file;
mod foreign_run;
mod hints;
mod identify;
mod kept;
mod known;
mod loaded;
mod looks;
mod ops;
mod preview;
mod questions;
pub mod queue;
mod readings;
mod refusal;
mod schema;
mod shapes;
mod trusted;
mod untrusted;
mod verbs;
mod views;
mod which;
mod whom;

use crate::config::Config;
use crate::driver::handle::Handle;
use crate::driver::unwritten::Unwritten;
use crate::driver::{Host, Message};
use crate::harness::{Harnesses, Settings};
use crate::process::{Environment, Secrets};
use crate::project::review::Hurry;
use crate::store::keyring::Keyring;
use crate::store::state::State;
use chrono::Utc;
use queue::Queue;
use refusal::Refusal;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// What the editor's half and this one agree on; another number means that one of them is older.
pub const PROTOCOL: u32 = 2;

/// How long drives may take to end beyond the grace of their agents.
const LEAVING: Duration = Duration::from_secs(2);

/// The engine behind the door.
#[derive(Default)]
pub struct Engine {
    me: Weak<Engine>,
    queue: Arc<Queue>,
    config: Mutex<Config>,
    /// The newest drive of each project root.
    drives: Mutex<HashMap<PathBuf, Arc<Handle>>>,
    /// Checkpoints that drives which are over could not write.
    unwritten: Arc<Unwritten>,
    /// Drives that whoever set them going is still to hear of.
    starting: Mutex<Vec<(ThreadId, Arc<Handle>)>>,
    asks: asks::Asks,
    readings: readings::Readings,
    /// Trust sheets that were shown last.
    shown: Mutex<Vec<trusted::Shown>>,
    looks: looks::Looks,
    /// What foreign runs claimed when they were shown.
    claims: Mutex<Vec<((PathBuf, String), String)>>,
    leaving: AtomicBool,
    /// What the asks' thread wants of git is not waited for.
    hurry: Hurry,
    /// Declarations that are open in the editor.
    documents: Arc<documents::Documents>,
    /// What is known of their projects.
    projects: known::Projects,
}

impl Engine {
    /// An engine that drives nothing yet.
    pub fn new() -> Arc<Self> {
        crate::store::disk::arm_from_environment();
        Arc::new_cyclic(|me| Self { me: me.clone(), ..Self::default() })
    }

    /// Answers a request, for the editor's main thread. Total: it never panics.
    pub fn call(&self, request: &str) -> String {
        crate::environ::capture();
        let answer = match serde_json::from_str(request) {
            Ok(request) => self.respond(request),
            Err(_) => Refusal::BadRequest("a request is a JSON object".into()).json().to_string(),
        };
        self.set_going();
        answer
    }

    /// The same on any thread.
    fn respond(&self, request: Map<String, Value>) -> String {
        let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.answer(request)));
        match answer.unwrap_or_else(|panic| Err(Refusal::of_panic(&*panic))) {
            Ok(ops::Reply::Value(value)) => format!("{{\"ok\":{value}}}"),
            Ok(ops::Reply::Text(text)) => format!("{{\"ok\":{text}}}"),
            Err(refusal) => refusal.json().to_string(),
        }
    }

    /// At most `max` events, as a JSON array.
    pub fn poll(&self, max: usize) -> String {
        format!("[{}]", self.queue.poll(max).join(","))
    }

    /// Rings on the write end of a pipe while events wait.
    pub fn attach(&self, fd: i32) -> std::io::Result<()> {
        self.queue.attach(fd)
    }

    /// Rings nobody any more.
    pub fn detach(&self) {
        self.queue.detach();
    }

    /// The queue of events for the editor.
    pub fn queue(&self) -> &Arc<Queue> {
        &self.queue
    }

    fn answer(&self, mut request: Map<String, Value>) -> Result<ops::Reply, Refusal> {
        match request.remove("op") {
            Some(Value::String(op)) => ops::perform(self, &op, request),
            _ => Err(Refusal::BadRequest("the request has no \"op\"".into())),
        }
    }

    /// Tells the editor something that no drive tells.
    fn notice(&self, root: &Path, level: &str, message: &str) {
        self.queue.push(json!({ "type": "notice", "root": root, "level": level, "message": message }));
    }

    /// Says something that belongs to the answer of a verb: it is said whatever the user wants to hear of.
    fn say_answer(&self, root: &Path, message: &str) {
        let notice =
            json!({ "type": "notice", "root": root, "level": "info", "answer": true, "message": message });
        self.queue.push(notice);
    }

    fn config(&self) -> Config {
        locked(&self.config).clone()
    }

    fn configure(&self, config: Config) {
        *locked(&self.config) = config;
    }

    /// The newest drive of a project, over or not.
    fn drive(&self, root: &Path) -> Option<Arc<Handle>> {
        locked(&self.drives).get(root).cloned()
    }

    fn drives(&self) -> Vec<Arc<Handle>> {
        locked(&self.drives).values().cloned().collect()
    }

    fn keep(&self, root: &Path, handle: Handle) -> Arc<Handle> {
        let handle = Arc::new(handle);
        locked(&self.drives).insert(root.to_owned(), handle.clone());
        locked(&self.starting).push((thread::current().id(), handle.clone()));
        handle
    }

    /// Lets the drives that this thread has begun go on: who asked for them has been answered.
    fn set_going(&self) {
        let here = thread::current().id();
        locked(&self.starting)
            .extract_if(.., |(thread, _)| *thread == here)
            .for_each(|(_, handle)| handle.go());
    }

    fn set_all_going(&self) {
        locked(&self.starting).drain(..).for_each(|(_, handle)| handle.go());
    }

    fn is_leaving(&self) -> bool {
        self.leaving.load(Ordering::SeqCst)
    }

    /// The editor leaves: nothing begins any more, every drive is interrupted, every agent ended. Gives what to say of
    /// checkpoints that stay unwritten.
    fn stop(&self, grace: Duration) -> Vec<String> {
        let until = Instant::now() + grace + LEAVING;
        self.leaving.store(true, Ordering::SeqCst);
        self.hurry.set(true);
        self.set_all_going();
        let leave = || {
            for drive in self.drives() {
                drive.tell(Message::Leave(grace));
            }
        };
        leave();
        let closed = self.asks.close(until);
        // What was begun meanwhile.
        self.set_all_going();
        leave();
        for drive in self.drives() {
            drive.wait(until.saturating_duration_since(Instant::now()));
        }
        self.leaving.store(!closed, Ordering::SeqCst);
        self.hurry.set(!closed);
        self.unwritten.close()
    }

    /// The harnesses that a declaration may name.
    fn harness_names(&self) -> Vec<String> {
        harnesses(&locked(&self.config)).named.into_keys().chain(["auto".to_owned()]).collect()
    }

    /// What a drive works with: the configuration as it is now.
    fn host(&self) -> Arc<Host> {
        let config = self.config();
        let queue = self.queue.clone();
        Arc::new(Host {
            publish: Box::new(move |key, event| queue.push_text(key, event)),
            clock: Box::new(Utc::now),
            secrets: Secrets::of(&Environment::current()),
            harnesses: harnesses(&config),
            keys: self.keys(),
            unwritten: self.unwritten.clone(),
            config,
        })
    }

    /// What makes the files of runs ours, as our state has it now.
    fn keys(&self) -> Keyring {
        Keyring::open(State::at(locked(&self.config).state_dir.as_deref()))
    }
}

/// The known harnesses with what the user configured.
fn harnesses(config: &Config) -> Harnesses {
    let mut harnesses = Harnesses::default();
    harnesses.max_output = config.max_output;
    for (name, config) in &config.harnesses {
        let settings = harnesses.named.entry(name.clone()).or_insert_with(Settings::default);
        if !config.cmd.is_empty() {
            settings.cmd.clone_from(&config.cmd);
        }
        settings.args.clone_from(&config.args);
    }
    harnesses
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

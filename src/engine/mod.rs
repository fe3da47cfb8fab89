//! The handle that the editor's binding holds: requests in, answers and events out.
//!
//! [`Engine::call`] takes `{"op":NAME,…}` and answers `{"ok":…}` or `{"err":{"code","message","data"?}}`. An operation
//! is a function over a typed request; [`ops`] has the table.

mod assist;
mod checks;
mod declarations;
mod documents;
pub mod drill;
mod file;
mod hints;
mod known;
mod loaded;
mod ops;
mod preview;
mod questions;
pub mod queue;
mod refusal;
mod schema;
mod shapes;
mod verbs;
mod views;
mod which;

use crate::config::Config;
use crate::driver::Host;
use crate::driver::start::Handle;
use crate::harness::{Harnesses, Settings};
use crate::process::{Environment, Secrets};
use chrono::Utc;
use queue::Queue;
pub use refusal::Refusal;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the editor's half and this one agree on; another number means that one of them is older.
pub const PROTOCOL: u32 = 1;

/// The engine behind the door.
#[derive(Default)]
pub struct Engine {
    queue: Arc<Queue>,
    config: Mutex<Config>,
    /// The newest drive of each project root.
    drives: Mutex<HashMap<PathBuf, Arc<Handle>>>,
    /// Declarations that are open in the editor.
    documents: Arc<documents::Documents>,
    /// What is known of their projects.
    projects: known::Projects,
}

impl Engine {
    /// An engine that drives nothing yet.
    pub fn new() -> Arc<Self> {
        crate::store::disk::arm_from_environment();
        Arc::default()
    }

    /// Answers a request. Total: it never panics.
    pub fn call(&self, request: &str) -> String {
        let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.answer(request)));
        match answer.unwrap_or_else(|panic| Err(Refusal::of_panic(&*panic))) {
            Ok(value) => json!({ "ok": value }).to_string(),
            Err(refusal) => refusal.json().to_string(),
        }
    }

    /// At most `max` events, as a JSON array.
    pub fn poll(&self, max: usize) -> String {
        Value::Array(self.queue.poll(max)).to_string()
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

    fn answer(&self, request: &str) -> Result<Value, Refusal> {
        let mut request: Map<String, Value> = serde_json::from_str(request)
            .map_err(|error| Refusal::new("bad-request", format!("not a request: {error}")))?;
        match request.remove("op") {
            Some(Value::String(op)) => ops::perform(self, &op, request),
            _ => Err(Refusal::new("bad-request", "the request has no \"op\"")),
        }
    }

    /// Tells the editor something that no drive tells.
    fn notice(&self, root: &Path, level: &str, message: &str) {
        self.queue.push(json!({ "type": "notice", "root": root, "level": level, "message": message }));
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
        handle
    }

    /// The harnesses that a declaration may name.
    fn harness_names(&self) -> Vec<String> {
        harnesses(&locked(&self.config)).named.into_keys().chain(["auto".to_owned()]).collect()
    }

    /// What a drive works with: the configuration as it is now.
    fn host(&self) -> Arc<Host> {
        // On the caller's thread, which is the editor's own: nobody changes the environment meanwhile.
        Environment::capture();
        let config = self.config();
        let queue = self.queue.clone();
        Arc::new(Host {
            publish: Box::new(move |key, event| match key {
                Some(key) => queue.push_latest(key, event),
                None => queue.push(event),
            }),
            clock: Box::new(Utc::now),
            secrets: Secrets::of(&Environment::current()),
            harnesses: harnesses(&config),
            config,
        })
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

//! The handle that the editor's binding holds: requests in, answers and events out.

pub mod drill;
pub mod queue;

use std::any::Any;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};

use queue::Queue;

/// What the editor's half and this one agree on; another number means that one of them is older.
pub const PROTOCOL: u32 = 1;

/// The engine behind the door.
#[derive(Debug, Default)]
pub struct Engine {
    queue: Queue,
    log: Mutex<Option<std::path::PathBuf>>,
}

/// A request that was refused: what Lua gets as `err`.
#[derive(Debug)]
pub struct Refusal {
    code: &'static str,
    message: String,
}

impl Engine {
    /// An engine that does nothing yet.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Answers a request, `{"op":…}`, with `{"ok":…}` or `{"err":{"code":…,"message":…}}`. Total: it never panics.
    pub fn call(&self, request: &str) -> String {
        let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.answer(request)));
        let answer = answer.unwrap_or_else(|panic| Err(Refusal::of_panic(&*panic)));
        match answer {
            Ok(value) => json!({ "ok": value }),
            Err(refusal) => json!({ "err": { "code": refusal.code, "message": refusal.message } }),
        }
        .to_string()
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

    /// Where to log.
    pub fn set_log(&self, path: &Path) {
        *self.log.lock().unwrap_or_else(PoisonError::into_inner) = Some(path.to_owned());
    }

    /// The queue of events for the editor.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    fn answer(&self, request: &str) -> Result<Value, Refusal> {
        let request: Map<String, Value> = serde_json::from_str(request)
            .map_err(|error| Refusal::new("bad-request", format!("not a request: {error}")))?;
        match request.get("op").and_then(Value::as_str) {
            Some("stop") => Ok(json!({})),
            Some("panic") if drill::allowed() => {
                drill::panic(self.queue(), request.get("where").and_then(Value::as_str).unwrap_or("call"));
                Ok(json!({}))
            }
            Some(op) => Err(Refusal::new("unknown-op", format!("no operation \"{op}\""))),
            None => Err(Refusal::new("bad-request", "the request has no \"op\"".to_owned())),
        }
    }
}

impl Refusal {
    fn new(code: &'static str, message: String) -> Self {
        Self { code, message }
    }

    fn of_panic(panic: &(dyn Any + Send)) -> Self {
        let text = panic
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Self::new("panic", format!("the engine panicked: {}", text.unwrap_or("no message")))
    }
}

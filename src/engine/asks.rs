//! Requests whose answer comes as an event: what takes locks, replays journals or asks git has a thread of its own, so
//! that the editor's main loop does not wait for it. They are performed in the order in which they were asked.

use super::{Engine, Refusal, locked};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A request to be answered by an `answered` event with this id.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    id: u64,
    request: Map<String, Value>,
}

type Asked = (u64, Map<String, Value>);

/// The thread that answers, from the first question on.
#[derive(Default)]
pub struct Asks {
    worker: Mutex<Option<Worker>>,
}

struct Worker {
    outbox: Sender<Asked>,
    thread: JoinHandle<()>,
}

/// Takes a request; the answer comes later.
pub fn ask(engine: &Engine, Ask { id, request }: Ask) -> Result<Value, Refusal> {
    // The one would wait for itself, the other for the thread that it is in.
    if matches!(request.get("op").and_then(Value::as_str), Some("ask" | "stop")) {
        return Err(Refusal::BadRequest("\"ask\" and \"stop\" are called, not asked".into()));
    }
    let cannot = |error: &dyn std::fmt::Display| Refusal::NoThread(error.to_string());
    let mut worker = locked(&engine.asks.worker);
    if worker.as_ref().is_none_or(|worker| worker.thread.is_finished()) {
        let (outbox, inbox) = channel();
        let engine = engine.me.clone();
        let thread = std::thread::Builder::new().name("superpower-asks".into());
        let thread = thread.spawn(move || work(&engine, &inbox)).map_err(|error| cannot(&error))?;
        *worker = Some(Worker { outbox, thread });
    }
    if let Some(worker) = &*worker {
        if is_cancel(&request) {
            // A look at the files that is under way keeps nobody from that.
            engine.hurry.set(true);
        }
        worker.outbox.send((id, request)).map_err(|error| cannot(&error))?;
    }
    Ok(json!({}))
}

fn work(engine: &Weak<Engine>, inbox: &Receiver<Asked>) {
    while let Ok((id, request)) = inbox.recv() {
        let Some(engine) = engine.upgrade() else { return };
        if is_cancel(&request) && !engine.is_leaving() {
            engine.hurry.set(false);
        }
        if engine.is_leaving() && !is_decided(&request) {
            continue;
        }
        let answer = engine.respond(request);
        let event = format!("{{\"type\":\"answered\",\"id\":{id},\"answer\":{answer}}}");
        engine.queue.push_text(None, event.into());
        // Whoever asked hears that a run began before the run itself is heard.
        engine.set_going();
    }
}

fn is_cancel(request: &Map<String, Value>) -> bool {
    request.get("op").and_then(Value::as_str) == Some("cancel")
}

/// What a person has decided about a run is written down, also where the editor is left before it could be.
fn is_decided(request: &Map<String, Value>) -> bool {
    matches!(
        request.get("op").and_then(Value::as_str),
        Some("decide" | "pause" | "cancel" | "retry" | "skip")
    )
}

impl Asks {
    /// Takes no more, and waits for what is under way; false where that did not end in time.
    pub fn close(&self, until: Instant) -> bool {
        let Some(Worker { outbox, thread }) = locked(&self.worker).take() else { return true };
        drop(outbox);
        while !thread.is_finished() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
        thread.is_finished()
    }
}

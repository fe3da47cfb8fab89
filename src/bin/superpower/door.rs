//! The way to the engine: requests and events. Nothing else of the program knows where the engine is.

use crate::refused::Refused;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{self, PipeReader, Read};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use superpower::engine::{Engine, Home};
use superpower::server::Router;

/// Maximum number of events that are taken at once.
const BATCH: usize = 200;

/// The engine of the project's driver, where there is one, and else the one in this process.
pub struct Door {
    router: Router,
    engine: Arc<Engine>,
    /// Readable while events wait.
    bell: PipeReader,
    events: VecDeque<Value>,
}

impl Door {
    pub fn open() -> io::Result<Self> {
        let (bell, ours) = io::pipe()?;
        fcntl_setfl(&bell, OFlags::NONBLOCK)?;
        let router = Router::new(Home::Command);
        let engine = router.engine().clone();
        engine.attach(ours.as_raw_fd())?;
        Ok(Self { router, engine, bell, events: VecDeque::new() })
    }

    /// Performs an operation.
    pub fn call(&self, op: &str, fields: &Value) -> Result<Value, Refused> {
        let mut request = fields.clone();
        request["op"] = json!(op);
        answered(&self.router.call(&request.to_string()))
    }

    /// Stops what is in this process. What a driver drives goes on: somebody else may have continued it by now.
    pub fn stop(&self) -> Result<Value, Refused> {
        answered(&self.engine.call(&json!({ "op": "stop" }).to_string()))
    }

    /// Interrupts the run that this process drives.
    pub fn interrupt(&self, grace: Duration) -> Result<Value, Refused> {
        self.call("stop", &json!({ "grace_ms": grace.as_millis() as u64 }))
    }

    /// Asks the driver to interrupt the run that it drives for this process; false where it drives none. What becomes
    /// of it comes as events.
    pub fn interrupt_driver(&self) -> bool {
        self.router.interrupt()
    }

    /// From now on a driver is started where none lives, and no run is driven in this process.
    pub fn detach(&self) {
        self.router.detach();
    }

    /// Whether the events of the project's driver come here.
    pub fn follows(&self, root: &Path) -> bool {
        self.router.is_client(root)
    }

    /// The next event. None if none comes in this time, or if `interrupted` becomes readable meanwhile.
    pub fn next_event(&mut self, timeout: Duration, interrupted: Option<BorrowedFd<'_>>) -> Option<Value> {
        let until = Instant::now() + timeout;
        loop {
            if let Some(event) = self.take() {
                return Some(event);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            let mut ends = vec![PollFd::new(&self.bell, PollFlags::IN)];
            ends.extend(interrupted.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
            // An interrupted wait is one that has to be looked at.
            let _ = poll(&mut ends, Timespec::try_from(left).ok().as_ref());
            if ends.get(1).is_some_and(|end| !end.revents().is_empty()) {
                return self.take();
            }
        }
    }

    fn take(&mut self) -> Option<Value> {
        if self.events.is_empty() {
            while matches!(self.bell.read(&mut [0; 64]), Ok(1..)) {}
            let events = serde_json::from_str::<Vec<Value>>(&self.engine.poll(BATCH));
            self.events.extend(events.unwrap_or_default());
        }
        self.events.pop_front()
    }
}

/// The value of an answer, or its refusal.
fn answered(text: &str) -> Result<Value, Refused> {
    let answer: Value = serde_json::from_str(text)
        .map_err(|error| Refused::internal(format!("the engine's answer cannot be read: {error}")))?;
    match answer.get("err") {
        Some(err) => Err(Refused::of(err)),
        None => Ok(answer["ok"].clone()),
    }
}

//! Panics on request, so that a test can check that the editor survives. Enabled by an environment variable only.

use std::sync::Arc;

use serde_json::json;

use super::op::{Op, Reply};
use super::queue::Queue;
use serde::Deserialize;

/// The operation, which is not in the table.
pub(super) const OP: Op = Op::main("panic", |engine, fields| {
    let Request { place } = fields.read()?;
    panic(engine.queue(), &place);
    Ok(Reply::Value(json!({})))
});

#[derive(Deserialize)]
struct Request {
    #[serde(rename = "where", default = "call")]
    place: String,
}

fn call() -> String {
    "call".to_owned()
}

/// Whether the environment allows panics.
pub(super) fn allowed() -> bool {
    std::env::var_os("SUPERPOWER_TEST_PANIC").is_some_and(|value| value == "1")
}

/// Number of events in a flood; as many snapshots come with them.
const FLOOD_EVENTS: u64 = 20_000;

/// Panics in this call, in this call with the queue locked, or on another thread. `flood` queues a large number of
/// events from a thread instead.
fn panic(queue: &Arc<Queue>, place: &str) {
    match place {
        "flood" => {
            let queue = Arc::clone(queue);
            let thread = std::thread::Builder::new().name("superpower-drill".to_owned());
            let _ = thread.spawn(move || {
                for number in 0..FLOOD_EVENTS {
                    queue.push(json!({ "type": "drill", "number": number, "text": "x".repeat(200) }));
                    queue.push_latest("drill", json!({ "type": "drill-snapshot", "number": number }));
                }
            });
        }
        "lock" => queue.hold(|| panic!("drill: under the lock")),
        "thread" => {
            let thread = std::thread::Builder::new().name("superpower-drill".to_owned());
            let _ = thread.spawn(|| panic!("drill: in a thread")).map(std::thread::JoinHandle::join);
        }
        _ => panic!("drill: in a call"),
    }
}

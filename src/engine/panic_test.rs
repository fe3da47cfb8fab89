//! Panics on purpose, so that a test can see that an editor outlives them. Only where the environment asks for it.

use std::sync::Arc;

use serde_json::json;

use super::op::{Op, Reply};
use super::queue::Queue;
use serde::Deserialize;

/// The operation, which no table has.
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

/// Whether this process was started to be drilled.
pub(super) fn allowed() -> bool {
    std::env::var_os("SUPERPOWER_TEST_PANIC").is_some_and(|value| value == "1")
}

/// How many events a flood has, beside as many snapshots.
const FLOOD: u64 = 20_000;

/// Panics in this call, in this call while the queue's lock is held, or in a thread of its own. Or does the other
/// thing that an editor must outlive: floods it with events from a thread.
fn panic(queue: &Arc<Queue>, place: &str) {
    match place {
        "flood" => {
            let queue = Arc::clone(queue);
            let thread = std::thread::Builder::new().name("superpower-drill".to_owned());
            let _ = thread.spawn(move || {
                for number in 0..FLOOD {
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

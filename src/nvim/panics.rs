//! Where a panic goes: into the log, with its place and backtrace, and to the user as an event. Rust's own hook would
//! print into the terminal and garble the editor's screen.

use std::backtrace::Backtrace;
use std::cell::Cell;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::fd::RawFd;
use std::panic::PanicHookInfo;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once};

use serde_json::json;

use crate::engine::queue::Queue;
use crate::engine::sync::{locked, panic_text};

static LOG: Mutex<Option<PathBuf>> = Mutex::new(None);
/// Panics outside of calls that the editor has not heard of. A queue of their own, for the panicking thread may hold
/// the lock of the engine's.
static UNTOLD: Queue = Queue::new();
const MOST_UNTOLD: usize = 16;

thread_local! {
    /// Whether this thread is inside a call from Lua, whose answer will tell.
    static IN_CALL: Cell<bool> = const { Cell::new(false) };
}

/// Takes the place of Rust's hook. The library carries its own copy of the standard library, so nobody else's hook is
/// touched.
pub fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| std::panic::set_hook(Box::new(record)));
}

/// Where panics are logged from now on.
pub fn log_to(path: &Path) {
    *locked(&LOG) = Some(path.to_owned());
}

/// Where panics are logged.
pub fn log_path() -> Option<PathBuf> {
    locked(&LOG).clone()
}

/// Runs `body`, whose panics the caller reports.
pub fn in_call<T>(body: impl FnOnce() -> T) -> T {
    struct Reset(bool);
    impl Drop for Reset {
        fn drop(&mut self) {
            IN_CALL.set(self.0);
        }
    }
    let _reset = Reset(IN_CALL.replace(true));
    body()
}

/// Rings for panics too.
pub fn attach(fd: RawFd) -> io::Result<()> {
    UNTOLD.attach(fd)
}

/// Rings no more.
pub fn detach() {
    UNTOLD.detach();
}

/// The events, with panics that the editor has not heard of in front.
pub fn among(events: String) -> String {
    let untold = UNTOLD.poll(MOST_UNTOLD);
    if untold.is_empty() {
        return events;
    }
    let queued = events.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or_default();
    let comma = if queued.is_empty() { "" } else { "," };
    format!("[{}{comma}{queued}]", untold.join(","))
}

fn record(info: &PanicHookInfo<'_>) {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("unnamed");
    let text = panic_text(info.payload());
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    if let Some(path) = log_path() {
        let now = chrono::Utc::now().to_rfc3339();
        let trace = Backtrace::force_capture();
        // Nothing can be done about a log that cannot be written.
        let _ = OpenOptions::new().create(true).append(true).open(path).and_then(|mut file| {
            file.write_all(
                format!("{now} panic in thread \"{name}\" at {place}: {text}\n{trace}\n").as_bytes(),
            )
        });
    }
    if !IN_CALL.get() && UNTOLD.len() < MOST_UNTOLD {
        let message = format!("the engine panicked: {text} (thread \"{name}\", {place})");
        let log = log_path().map(|path| path.display().to_string());
        UNTOLD.push(json!({ "type": "panic", "message": message, "log": log }));
    }
}

//! Writes panics to the log, with location and backtrace, and reports them to the user as events. Rust's own hook would print
//! to the terminal and garble the editor's screen.

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
/// Panics outside of calls that the editor has not received. They have a queue of their own, because the panicking thread may
/// hold the lock of the engine's queue.
static UNREPORTED: Queue = Queue::new();
const MAX_UNREPORTED: usize = 16;

thread_local! {
    /// Whether this thread is in a call from Lua, whose reply reports the panic.
    static IN_CALL: Cell<bool> = const { Cell::new(false) };
}

/// Replaces Rust's panic hook. The library has its own copy of the standard library, so other libraries' hooks are not
/// affected.
pub fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| std::panic::set_hook(Box::new(record)));
}

/// Sets the log file.
pub fn log_to(path: &Path) {
    *locked(&LOG) = Some(path.to_owned());
}

pub fn log_path() -> Option<PathBuf> {
    locked(&LOG).clone()
}

/// Runs `body`; its panics are reported by the caller.
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

/// Wakes the editor through `fd` for panics too.
pub fn attach(fd: RawFd) -> io::Result<()> {
    UNREPORTED.attach(fd)
}

/// Stops waking the editor.
pub fn detach() {
    UNREPORTED.detach();
}

/// The events, preceded by panics that the editor has not received.
pub fn with_unreported(events: String) -> String {
    let unreported = UNREPORTED.poll(MAX_UNREPORTED);
    if unreported.is_empty() {
        return events;
    }
    let queued = events.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or_default();
    let comma = if queued.is_empty() { "" } else { "," };
    format!("[{}{comma}{queued}]", unreported.join(","))
}

fn record(info: &PanicHookInfo<'_>) {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("unnamed");
    let text = panic_text(info.payload());
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    if let Some(path) = log_path() {
        let now = chrono::Utc::now().to_rfc3339();
        let trace = Backtrace::force_capture();
        // A log that cannot be written has no other place to be reported.
        let _ = OpenOptions::new().create(true).append(true).open(path).and_then(|mut file| {
            file.write_all(
                format!("{now} panic in thread \"{name}\" at {place}: {text}\n{trace}\n").as_bytes(),
            )
        });
    }
    if !IN_CALL.get() && UNREPORTED.len() < MAX_UNREPORTED {
        let message = format!("internal error: {text} (thread \"{name}\", {place})");
        let log = log_path().map(|path| path.display().to_string());
        UNREPORTED.push(json!({ "type": "panic", "message": message, "log": log }));
    }
}

//! Starts named threads. A panic ends only its own thread.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

/// The prefix of the names, to recognize our threads in a list of the editor's.
const THREAD: &str = "superpower";

/// Starts a thread.
pub(super) fn named(what: &str, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let body = || drop(catch_unwind(AssertUnwindSafe(body)));
    thread::Builder::new().name(format!("{THREAD}-{what}")).spawn(body).map(drop)
}

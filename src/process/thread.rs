//! Threads of ours: named, and ending nothing but themselves when they panic.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

/// The threads' names begin so, for whoever looks at the editor's threads.
const THREAD: &str = "superpower";
/// Starts one.
pub(super) fn named(what: &str, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let body = || drop(catch_unwind(AssertUnwindSafe(body)));
    thread::Builder::new().name(format!("{THREAD}-{what}")).spawn(body).map(drop)
}

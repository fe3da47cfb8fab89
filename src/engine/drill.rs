//! Panics on purpose, so that a test can see that an editor outlives them. Only where the environment asks for it.

use super::queue::Queue;

/// Whether this process was started to be drilled.
pub fn allowed() -> bool {
    std::env::var_os("SUPERPOWER_TEST_PANIC").is_some_and(|value| value == "1")
}

/// Panics in this call, in this call while the queue's lock is held, or in a thread of its own.
pub fn panic(queue: &Queue, place: &str) {
    match place {
        "lock" => queue.hold(|| panic!("drill: under the lock")),
        "thread" => {
            let thread = std::thread::Builder::new().name("superpower-drill".to_owned());
            let _ = thread.spawn(|| panic!("drill: in a thread")).map(std::thread::JoinHandle::join);
        }
        _ => panic!("drill: in a call"),
    }
}

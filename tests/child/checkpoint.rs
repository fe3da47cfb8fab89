//! Another process that uses the checkpoint: it holds the lock, or writes repeatedly.

use crate::counted::count;
use std::path::Path;
use std::time::Duration;
use superpower::checkpoint::Place;
use superpower::checkpoint::lock::{Lock, Patience};
use superpower::checkpoint::store::Store;

const SECOND: Duration = Duration::from_secs(1);

/// Printed when the job has begun; the test waits for it.
#[allow(clippy::print_stdout)]
fn say(word: &str) {
    println!("{word}");
}

/// Holds the lock until it is killed.
pub fn hold(dir: &str) {
    let _held = Lock::of(Path::new(dir)).take(SECOND, &mut Patience::default()).unwrap();
    say("held");
    std::thread::sleep(SECOND * 60);
}

/// Writes until it is killed.
pub fn write(dir: &str) {
    let mut store = Store::new(Place::of_run(Path::new(dir), Path::new(dir)));
    say("writing");
    loop {
        let _ = store.update(chrono::Utc::now(), SECOND, |record, _| {
            count(record, "child");
            std::thread::sleep(Duration::from_micros(500));
        });
    }
}

//! Launches a harness and collects its signals.

use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use superpower::harness::*;
use superpower::store::beneath::Door;

/// A launch of the agent `coder` in `dir`.
pub fn launch_in(dir: &Path) -> Launch {
    Launch {
        run_id: uuid::Uuid::new_v4().to_string(),
        stage: 2,
        launch: 5,
        task: Task::Agent("coder".to_owned()),
        prompt: "do it".to_owned(),
        session: None,
        root: dir.to_path_buf(),
        dir: dir.to_path_buf(),
        door: Door::state(dir),
        timeout: Some(Duration::from_secs(20)),
        idle: None,
        interactive: true,
    }
}

/// Launches, and returns the channel of the signals.
pub fn start(harness: &str, harnesses: &Harnesses, launch: Launch) -> (Running, Receiver<Signal>) {
    let (sender, receiver) = channel();
    let resolved = resolve(harness, harnesses, None).unwrap();
    let running =
        superpower::harness::launch(&resolved, launch, move |signal| drop(sender.send(signal))).unwrap();
    (running, receiver)
}

/// Waits for the ending, and returns it with all signals before it.
pub fn ended(signals: &Receiver<Signal>) -> (Vec<Signal>, Ending) {
    let mut before = Vec::new();
    loop {
        match signals.recv_timeout(Duration::from_secs(30)).expect("an end") {
            Signal::Ended(ending) => return (before, ending),
            signal => before.push(signal),
        }
    }
}

//! An editor whose agent is launched and left to itself.

use crate::launched::{launch_in, start};
use std::path::Path;
use superpower::harness::{Harnesses, Signal};

/// Launches `cmd` as the tool in the folder, and says with files there when it has started and ended.
pub fn starts(tool: &str, folder: &str, cmd: &[&str]) {
    let folder = Path::new(folder);
    let mut harnesses = Harnesses::default();
    harnesses.named.get_mut(tool).unwrap().cmd = cmd.iter().map(|&word| word.to_owned()).collect();
    let (_running, signals) = start(tool, &harnesses, launch_in(folder));
    for signal in signals {
        if matches!(signal, Signal::Started(_)) {
            std::fs::write(folder.join("started"), "").unwrap();
        }
        if let Signal::Ended(ending) = signal {
            // Renamed, so that the file is never seen half written.
            std::fs::write(folder.join("ended.part"), format!("{:?}", ending.outcome)).unwrap();
            std::fs::rename(folder.join("ended.part"), folder.join("ended")).unwrap();
        }
    }
    // It does nothing more, until it is killed.
    loop {
        std::thread::park();
    }
}

//! An editor that launches an agent and then does nothing.

use crate::launched::{launch_in, start};
use std::path::Path;
use superpower::harness::{Harnesses, Signal};

/// Launches `cmd` as a harness in the directory, and creates files there when it has started and when it has ended.
pub fn starts(tool: &str, folder: &str, cmd: &[&str]) {
    let folder = Path::new(folder);
    let mut harnesses = Harnesses::default();
    harnesses.named.get_mut(tool).unwrap().cmd = cmd.iter().map(|&word| word.to_owned()).collect();
    let launch = launch_in(folder);
    std::fs::write(folder.join("run"), &launch.run_id).unwrap();
    let (_running, signals) = start(tool, &harnesses, launch);
    for signal in signals {
        if matches!(signal, Signal::Started(_)) {
            std::fs::write(folder.join("started"), "").unwrap();
        }
        if let Signal::Left(processes) = &signal {
            std::fs::write(folder.join("left"), processes.join("\n")).unwrap();
        }
        if let Signal::Ended(ending) = signal {
            // Renamed into place, so that the test never reads a half-written file.
            std::fs::write(folder.join("ended.part"), format!("{:?}", ending.outcome)).unwrap();
            std::fs::rename(folder.join("ended.part"), folder.join("ended")).unwrap();
        }
    }
    // Wait to be killed.
    loop {
        std::thread::park();
    }
}

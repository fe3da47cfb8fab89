//! The guard without a launcher: ends the agents of an editor that was killed.
//!
//! It reads lines from the engine (see `src/process/guard_client.rs`) until the pipe closes, which happens however the
//! editor ends. Launches that were reported as over are left alone, because another editor may drive their run by then.

use crate::terminate;
use crate::tree::{self, ProcessSet};
use std::collections::BTreeMap;
use std::io::BufRead;
use std::time::Duration;

/// Time for leftover processes to end after SIGTERM, before they get SIGKILL.
const GRACE: Duration = Duration::from_millis(300);

/// An active launch.
#[derive(Default)]
struct Launch {
    run_id: String,
    attempt: u32,
    leader: Option<(u32, u64)>,
}

/// Reads standard input to its end, and then ends the active launches.
pub fn watch() {
    // A signal to the editor's group or session must not end the guard.
    // SAFETY: the arguments are numbers.
    unsafe {
        libc::setsid();
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM, libc::SIGQUIT, libc::SIGPIPE] {
            libc::signal(signal, libc::SIG_IGN);
        }
    }
    let mut launches: BTreeMap<u64, Launch> = BTreeMap::new();
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        read(&line, &mut launches);
    }
    end_all(&launches);
}

fn read(line: &str, launches: &mut BTreeMap<u64, Launch>) {
    let words: Vec<&str> = line.split(' ').collect();
    match words[..] {
        ["launch", id, run_id, attempt] => {
            let launch = Launch { run_id: run_id.to_owned(), attempt: number(attempt) as u32, leader: None };
            launches.insert(number(id), launch);
        }
        ["group", id, pid, start_time] => {
            launches.entry(number(id)).or_default().leader = Some((number(pid) as u32, number(start_time)));
        }
        ["over", id] => drop(launches.remove(&number(id))),
        _ => {}
    }
}

fn number(word: &str) -> u64 {
    word.parse().unwrap_or_default()
}

fn end_all(launches: &BTreeMap<u64, Launch>) {
    let left = || {
        let mut processes = ProcessSet::new();
        for Launch { run_id, attempt, leader } in launches.values() {
            if let Some((pid, start_time)) = *leader {
                processes.extend(tree::descendants(pid));
                processes.insert(pid, start_time);
            }
            if !run_id.is_empty() {
                processes.extend(tree::marked(run_id, Some(*attempt)));
            }
        }
        processes.remove(&std::process::id());
        processes
    };
    terminate::terminate(&mut left(), GRACE, left);
}

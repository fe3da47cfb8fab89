//! Without a launcher: ends what a killed editor left of its agents, and is gone.
//!
//! It reads lines from the engine (see `src/process/guard_client.rs`) until the pipe ends, which the death of the editor
//! brings about, however it died. Launches that were told to be over are none of its business: another editor may
//! drive their run by then.

use crate::terminate;
use crate::tree::{self, Kin};
use std::collections::BTreeMap;
use std::io::BufRead;
use std::time::Duration;

/// What is left may take this long over TERM.
const GRACE: Duration = Duration::from_millis(300);

/// A launch that is not over.
#[derive(Default)]
struct Launch {
    run_id: String,
    attempt: u32,
    leader: Option<(u32, u64)>,
}

/// Reads to the end of the input, and ends what is left then.
pub fn watch() {
    // SAFETY: no arguments but numbers. What ends the editor's group or session must not end its guard.
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
        let mut kin = Kin::new();
        for Launch { run_id, attempt, leader } in launches.values() {
            if let Some((pid, start_time)) = *leader {
                kin.extend(tree::descendants(pid));
                kin.insert(pid, start_time);
            }
            if !run_id.is_empty() {
                kin.extend(tree::marked(run_id, Some(*attempt)));
            }
        }
        kin.remove(&std::process::id());
        kin
    };
    terminate::terminate(&mut left(), GRACE, left);
}

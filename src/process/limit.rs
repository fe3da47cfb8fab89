//! A mark that a process cannot remove: a resource limit. It is inherited however a process is started, and without
//! privileges nobody can raise it again. So it also marks a process that has cleared its environment, whose init and
//! launcher were both killed, or that is in a namespace of its own.
//!
//! The limit is `RLIMIT_RTTIME`, the time that a real-time task may run without sleeping. Values of more than 100,000
//! years limit nothing. Also part of the guard, so it uses only std and libc.

#![allow(dead_code, reason = "each side uses its half")]

use super::tree::{self, ProcessSet};

/// The range of our values. Nothing else uses a limit that is so high and not unlimited.
const OURS: std::ops::Range<u64> = 1 << 62..1 << 63;
/// Bits for the number of the launch; the bits of the run are above them.
const LAUNCH: u32 = 16;
const RUN: u32 = 44;

/// The value for a launch of a run.
fn of(run_id: &str, launch: u32) -> u64 {
    // FNV-1a.
    let hash = run_id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    OURS.start | (hash & ((1 << RUN) - 1)) << LAUNCH | u64::from(launch) & ((1 << LAUNCH) - 1)
}

/// Marks this process and everything that it starts. Does nothing if the limit is already lower.
pub fn set(run_id: &str, launch: u32) {
    let value = of(run_id, launch);
    let limit = libc::rlimit { rlim_cur: value, rlim_max: value };
    // SAFETY: the limit is ours.
    unsafe { libc::setrlimit(libc::RLIMIT_RTTIME, &limit) };
}

/// Whether this process has the mark of any launch.
pub fn is_marked() -> bool {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit is ours.
    let result = unsafe { libc::getrlimit(libc::RLIMIT_RTTIME, &mut limit) };
    result == 0 && OURS.contains(&limit.rlim_max)
}

/// Whether another process has the mark of any launch.
pub fn marks(pid: u32) -> bool {
    value(pid).is_some_and(|value| OURS.contains(&value))
}

/// The processes with the mark of a launch, or of any launch of the run.
pub fn marked(run_id: &str, launch: Option<u32>) -> ProcessSet {
    let wanted = of(run_id, launch.unwrap_or_default());
    let spared = tree::ourselves();
    let has = |pid: &u32| {
        let value = value(*pid).filter(|_| !spared.contains(pid));
        value.is_some_and(|it| it == wanted || launch.is_none() && it >> LAUNCH == wanted >> LAUNCH)
    };
    let stat = |pid| Some((pid, tree::stat(pid).filter(|stat| !stat.dead)?.start_time));
    tree::pids().into_iter().filter(has).filter_map(stat).collect()
}

/// The hard limit of a process.
fn value(pid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/limits")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Max realtime timeout"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

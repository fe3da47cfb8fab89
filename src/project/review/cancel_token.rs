//! Nobody waits for git any more: the run was cancelled, or the editor was left.

use rustix::process::{Pid, Signal, kill_process_group};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How long one call of git may take. A disk that has gone away would keep it, and a run with it, for ever.
const LONG: Duration = Duration::from_secs(120);
/// How soon it is noticed that nobody waits.
const SOON: Duration = Duration::from_millis(50);

/// Shared between whoever waits and whoever may end that.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

/// Why a call of git was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// Nobody waits for it.
    Unwanted,
    /// It took longer than anybody waits.
    Late(Duration),
}

impl CancelToken {
    /// Says whether what goes on is to be ended, and what would begin is not to be begun.
    pub fn set(&self, cancel: bool) {
        self.0.store(cancel, Ordering::SeqCst);
    }

    /// Whether nobody waits.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Ends the group of processes unless `done` is dropped in time.
    pub(super) fn watch(&self, group: u32, done: &Receiver<()>) -> Option<Ended> {
        let begun = Instant::now();
        loop {
            if let Err(RecvTimeoutError::Disconnected) = done.recv_timeout(SOON) {
                return None;
            }
            let ended = match begun.elapsed() {
                _ if self.is_set() => Ended::Unwanted,
                elapsed if elapsed > LONG => Ended::Late(LONG),
                _ => continue,
            };
            // The group is there as long as its leader has not been waited for.
            if let Some(group) = group.try_into().ok().and_then(Pid::from_raw) {
                let _ = kill_process_group(group, Signal::KILL);
            }
            return Some(ended);
        }
    }
}

//! Cancels calls of git, when a run is cancelled, the editor exits, or a time limit is reached.

use rustix::process::{Pid, Signal, kill_process_group};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Time limit for one call of git, which blocks forever on a disk that does not respond.
const MAX_CALL: Duration = Duration::from_secs(120);
/// After this time it is looked for what a call of git may be waiting for.
const SLOW: Duration = Duration::from_secs(1);
/// How often to check for a cancel.
const POLL: Duration = Duration::from_millis(50);

/// A flag that cancels work, shared between the thread that works and those that may cancel it.
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    flag: Arc<AtomicBool>,
    /// The flags of the parents, which cancel this token too.
    parents: Vec<Arc<AtomicBool>>,
    /// The deadline, and the time limit that it was made from.
    until: Option<(Instant, Duration)>,
}

/// Why a call of git was ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// It was cancelled.
    Unwanted,
    /// The time limit was reached.
    Late(Duration),
    /// It waits for this, which is no file.
    Waits(PathBuf),
}

impl CancelToken {
    /// Cancels active and later work, or allows it again.
    pub fn set(&self, cancel: bool) {
        self.flag.store(cancel, Ordering::SeqCst);
    }

    /// Whether it is cancelled.
    pub fn is_set(&self) -> bool {
        std::iter::once(&self.flag).chain(&self.parents).any(|flag| flag.load(Ordering::SeqCst))
    }

    /// A token that can be cancelled alone, and is cancelled with this one.
    #[must_use]
    pub fn child(&self) -> Self {
        let mut parents = self.parents.clone();
        parents.push(self.flag.clone());
        Self { flag: Arc::default(), parents, until: self.until }
    }

    /// The same token with a time limit from now, if it has no earlier one.
    #[must_use]
    pub fn within(&self, limit: Duration) -> Self {
        let until = Instant::now().checked_add(limit).map(|until| (until, limit));
        Self { until: self.until.into_iter().chain(until).min(), ..self.clone() }
    }

    /// Whether it is cancelled or its time limit is reached.
    pub fn is_over(&self) -> bool {
        self.ended().is_some()
    }

    /// Why no more work may begin, if so.
    pub(super) fn ended(&self) -> Option<Ended> {
        let late = self.until.filter(|(until, _)| *until <= Instant::now());
        if self.is_set() { Some(Ended::Unwanted) } else { late.map(|(_, limit)| Ended::Late(limit)) }
    }

    /// Kills the process group on a cancel or at the time limit. Returns `None` once `done` is disconnected. `waits`
    /// finds what the group may be waiting for.
    pub(super) fn watch(
        &self,
        group: u32,
        done: &Receiver<()>,
        waits: impl FnOnce() -> Option<PathBuf>,
    ) -> Option<Ended> {
        let begun = Instant::now();
        let mut waits = Some(waits);
        loop {
            if let Err(RecvTimeoutError::Disconnected) = done.recv_timeout(POLL) {
                return None;
            }
            let ended = match self.ended() {
                Some(ended) => ended,
                None if begun.elapsed() > MAX_CALL => Ended::Late(MAX_CALL),
                None if begun.elapsed() > SLOW => match waits.take().and_then(|waits| waits()) {
                    Some(path) => Ended::Waits(path),
                    None => continue,
                },
                None => continue,
            };
            // The group id is still ours, because its leader is not reaped yet.
            if let Some(group) = group.try_into().ok().and_then(Pid::from_raw) {
                let _ = kill_process_group(group, Signal::KILL);
            }
            return Some(ended);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_cancelled_alone_and_with_its_parents() {
        let parent = CancelToken::default();
        let (one, other) = (parent.child(), parent.child());
        one.set(true);
        assert!(one.is_set() && !parent.is_set() && !other.is_set());
        parent.set(true);
        assert!(other.is_set() && other.child().is_set());
    }

    #[test]
    fn a_time_limit_and_a_cancel_are_told_apart() {
        let token = CancelToken::default();
        assert_eq!(token.within(Duration::from_secs(3600)).ended(), None);
        let late = token.within(Duration::ZERO);
        assert_eq!(late.ended(), Some(Ended::Late(Duration::ZERO)));
        assert!(!late.is_set(), "a time limit is not a cancel");
        late.set(true);
        assert_eq!(late.ended(), Some(Ended::Unwanted));
    }
}

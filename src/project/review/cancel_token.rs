//! Nobody waits for git any more: the run was cancelled, the editor was left, or somebody has waited long enough.

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
pub struct CancelToken {
    flag: Arc<AtomicBool>,
    /// Those of whoever ends more than this.
    above: Vec<Arc<AtomicBool>>,
    /// When it has taken too long, and how long that is.
    until: Option<(Instant, Duration)>,
}

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
        self.flag.store(cancel, Ordering::SeqCst);
    }

    /// Whether nobody waits.
    pub fn is_set(&self) -> bool {
        std::iter::once(&self.flag).chain(&self.above).any(|flag| flag.load(Ordering::SeqCst))
    }

    /// One that can be ended alone, and is ended with this one.
    #[must_use]
    pub fn child(&self) -> Self {
        let mut above = self.above.clone();
        above.push(self.flag.clone());
        Self { flag: Arc::default(), above, until: self.until }
    }

    /// The same, and what it is for must be over within this time from now.
    #[must_use]
    pub fn within(&self, limit: Duration) -> Self {
        let until = Instant::now().checked_add(limit).map(|until| (until, limit));
        Self { until, ..self.clone() }
    }

    /// Whether nobody waits any more, or it has taken too long.
    pub fn is_over(&self) -> bool {
        self.ended().is_some()
    }

    /// Why nothing is to be begun any more, if so.
    pub(super) fn ended(&self) -> Option<Ended> {
        let late = self.until.filter(|(until, _)| *until <= Instant::now());
        if self.is_set() { Some(Ended::Unwanted) } else { late.map(|(_, limit)| Ended::Late(limit)) }
    }

    /// Ends the group of processes unless `done` is dropped in time.
    pub(super) fn watch(&self, group: u32, done: &Receiver<()>) -> Option<Ended> {
        let begun = Instant::now();
        loop {
            if let Err(RecvTimeoutError::Disconnected) = done.recv_timeout(SOON) {
                return None;
            }
            let ended = match self.ended() {
                Some(ended) => ended,
                None if begun.elapsed() > LONG => Ended::Late(LONG),
                None => continue,
            };
            // The group is there as long as its leader has not been waited for.
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
    fn a_child_is_ended_alone_and_with_what_stands_above_it() {
        let parent = CancelToken::default();
        let (one, other) = (parent.child(), parent.child());
        one.set(true);
        assert!(one.is_set() && !parent.is_set() && !other.is_set());
        parent.set(true);
        assert!(other.is_set() && other.child().is_set());
    }

    #[test]
    fn what_has_taken_too_long_is_late_and_what_nobody_wants_is_unwanted() {
        let token = CancelToken::default();
        assert_eq!(token.within(Duration::from_secs(3600)).ended(), None);
        let late = token.within(Duration::ZERO);
        assert_eq!(late.ended(), Some(Ended::Late(Duration::ZERO)));
        assert!(!late.is_set(), "somebody waits still");
        late.set(true);
        assert_eq!(late.ended(), Some(Ended::Unwanted));
    }
}

//! Comparisons of a project's files that a user waits for, and may cancel by number.

use crate::project::review::CancelToken;
use crate::sync::locked;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Maximum number of remembered numbers, more than a user waits for at a time.
const MANY: usize = 64;

/// How often to check whether the decisions are finished.
const POLL: Duration = Duration::from_millis(5);

/// The active comparisons.
#[derive(Default)]
pub struct Comparisons {
    /// By the number that the request gave.
    numbered: Mutex<HashMap<u64, CancelToken>>,
    /// Number of decisions that wait for a comparison.
    decisions: AtomicUsize,
}

/// Counts a decision as active until it is dropped.
pub struct Deciding<'a>(&'a AtomicUsize);

impl Drop for Deciding<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Comparisons {
    /// Counts a decision as active.
    pub fn begin_decision(&self) -> Deciding<'_> {
        self.decisions.fetch_add(1, Ordering::SeqCst);
        Deciding(&self.decisions)
    }

    /// Waits for active decisions, at most `limit`.
    pub fn wait_for_decisions(&self, limit: Duration) {
        let until = Instant::now() + limit;
        while self.decisions.load(Ordering::SeqCst) > 0 && Instant::now() < until {
            std::thread::sleep(POLL);
        }
    }

    /// The cancel token of a new comparison, which `parent` cancels too.
    pub fn begin(&self, parent: &CancelToken, number: Option<u64>) -> CancelToken {
        let Some(number) = number else { return parent.child() };
        // The cancel may arrive before the request that it is for.
        let cancelled = locked(&self.numbered).remove(&number).is_some_and(|token| token.is_set());
        let token = parent.child();
        token.set(cancelled);
        self.keep(number, token.clone());
        token
    }

    /// Forgets a finished comparison.
    pub fn end(&self, number: Option<u64>) {
        number.map(|number| locked(&self.numbered).remove(&number));
    }

    /// Cancels a comparison, even if it has not begun yet.
    pub fn cancel(&self, number: u64) {
        let known = locked(&self.numbered).get(&number).cloned();
        let token = known.unwrap_or_default();
        token.set(true);
        self.keep(number, token);
    }

    fn keep(&self, number: u64, token: CancelToken) {
        let mut all = locked(&self.numbered);
        if all.len() >= MANY {
            all.clear();
        }
        all.insert(number, token);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_is_cancelled_before_it_begins_and_while_it_is_active() {
        let (comparisons, parent) = (Comparisons::default(), CancelToken::default());
        let active = comparisons.begin(&parent, Some(1));
        assert!(!active.is_set());
        comparisons.cancel(1);
        assert!(active.is_set() && !parent.is_set());
        comparisons.cancel(2);
        assert!(comparisons.begin(&parent, Some(2)).is_set());
        comparisons.end(Some(2));
        assert!(
            !comparisons.begin(&parent, Some(2)).is_set(),
            "a finished comparison was cancelled, not this one"
        );
        assert!(!comparisons.begin(&parent, None).is_set());
    }

    #[test]
    fn decisions_are_waited_for_within_a_limit() {
        let comparisons = Comparisons::default();
        let limit = Duration::from_millis(20);
        let (deciding, begun) = (comparisons.begin_decision(), Instant::now());
        comparisons.wait_for_decisions(limit);
        assert!(begun.elapsed() >= limit);
        drop(deciding);
        let begun = Instant::now();
        comparisons.wait_for_decisions(Duration::from_secs(3600));
        assert!(begun.elapsed() < Duration::from_secs(60));
    }
}

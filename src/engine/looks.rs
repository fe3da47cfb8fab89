//! Looks at a project's files that somebody waits for in a window, and may give up.

use crate::project::review::CancelToken;
use crate::sync::locked;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// More than anybody waits for at a time.
const MANY: usize = 64;

/// How soon it is seen that a decision is made.
const SOON: Duration = Duration::from_millis(5);

/// The looks that are waited for.
#[derive(Default)]
pub struct Looking {
    /// By the number that whoever waits has given them.
    numbered: Mutex<HashMap<u64, CancelToken>>,
    /// Decisions that wait for theirs.
    decisions: AtomicUsize,
}

/// A decision that waits for its look, until it is dropped.
pub struct Deciding<'a>(&'a AtomicUsize);

impl Drop for Deciding<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Looking {
    /// A decision is being made.
    pub fn decide(&self) -> Deciding<'_> {
        self.decisions.fetch_add(1, Ordering::SeqCst);
        Deciding(&self.decisions)
    }

    /// Waits a moment for the decisions that are being made.
    pub fn wait_for_decisions(&self, limit: Duration) {
        let until = Instant::now() + limit;
        while self.decisions.load(Ordering::SeqCst) > 0 && Instant::now() < until {
            std::thread::sleep(SOON);
        }
    }

    /// What ends this look, and is ended with `above`.
    pub fn begin(&self, above: &CancelToken, number: Option<u64>) -> CancelToken {
        let Some(number) = number else { return above.child() };
        // One that was given up before it began stays so.
        let given_up = locked(&self.numbered).remove(&number).is_some_and(|token| token.is_set());
        let token = above.child();
        token.set(given_up);
        self.keep(number, token.clone());
        token
    }

    /// Nobody waits for it any more.
    pub fn over(&self, number: Option<u64>) {
        number.map(|number| locked(&self.numbered).remove(&number));
    }

    /// Ends a look, also one that has not begun.
    pub fn give_up(&self, number: u64) {
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
    fn a_look_is_given_up_before_it_begins_and_while_it_goes_on() {
        let (looking, above) = (Looking::default(), CancelToken::default());
        let goes_on = looking.begin(&above, Some(1));
        assert!(!goes_on.is_set());
        looking.give_up(1);
        assert!(goes_on.is_set() && !above.is_set());
        looking.give_up(2);
        assert!(looking.begin(&above, Some(2)).is_set());
        looking.over(Some(2));
        assert!(!looking.begin(&above, Some(2)).is_set(), "that was another one");
        assert!(!looking.begin(&above, None).is_set());
    }

    #[test]
    fn a_decision_is_waited_for_but_not_for_ever() {
        let looking = Looking::default();
        let limit = Duration::from_millis(20);
        let (deciding, begun) = (looking.decide(), Instant::now());
        looking.wait_for_decisions(limit);
        assert!(begun.elapsed() >= limit);
        drop(deciding);
        let begun = Instant::now();
        looking.wait_for_decisions(Duration::from_secs(3600));
        assert!(begun.elapsed() < Duration::from_secs(60));
    }
}

//! Lists of changes that were made for an open gate, when no drive is active to write the journal. The journal gets a list
//! together with the decision that is for it.

use crate::run::shown::Shown;
use crate::run::state::Run;
use crate::sync::locked;
use std::collections::HashMap;
use std::sync::Mutex;

/// Maximum number of remembered gates, more than a user has open.
const GATES: usize = 64;
/// Maximum number of remembered lists of one gate.
const LISTS: usize = 64;

/// A run, a stage and its visit.
type Gate = (String, usize, u32);

/// A list that this process made.
#[derive(Clone)]
struct Made {
    shown: Shown,
    /// The number of this gate's lists in the journal at that time.
    known: usize,
}

/// The lists that were shown at each gate.
#[derive(Default)]
pub struct GateLists(Mutex<HashMap<Gate, Vec<Made>>>);

/// A list that was shown.
pub struct Given {
    pub shown: Shown,
    /// Whether the journal does not have it yet.
    pub is_news: bool,
    /// Whether it was shown when an approval was refused because files had changed, or later.
    pub after_held: bool,
}

impl GateLists {
    /// The list that a decision names, or the newest one that fits.
    pub fn find(&self, run: &Run, stage: usize, visit: u32, fits: impl Fn(&Shown) -> bool) -> Option<Given> {
        let journal = run.shown_at(stage, visit);
        let held = journal.iter().position(|shown| shown.held);
        let made = locked(&self.0).get(&key(run, stage, visit)).cloned().unwrap_or_default();
        let of_journal = journal.iter().enumerate().map(|(at, shown)| (at, false, shown));
        let of_here = made.iter().map(|made| (made.known, true, &made.shown));
        // In the order in which they were made: one that the journal did not have was made after those it had.
        let mut all: Vec<_> = of_journal.chain(of_here).collect();
        all.sort_by_key(|(at, is_news, _)| (*at, !is_news));
        let (at, is_news, shown) = all.into_iter().rfind(|(_, _, shown)| fits(shown))?;
        let after_held = held.is_some_and(|held| if is_news { at > held } else { at >= held });
        Some(Given { shown: shown.clone(), is_news, after_held: after_held || shown.held })
    }

    /// Remembers the list that is shown now.
    pub fn remember(&self, run: &Run, stage: usize, visit: u32, shown: &Shown) {
        let journal = run.shown_at(stage, visit);
        let known = journal.len();
        let mut gates = locked(&self.0);
        let key = key(run, stage, visit);
        if gates.len() >= GATES && !gates.contains_key(&key) {
            gates.clear();
        }
        let lists = gates.entry(key).or_default();
        let newest = lists.last().filter(|made| made.known == known).map(|made| &made.shown);
        if newest.or(journal.last()).is_some_and(|newest| newest.digest == shown.digest) {
            return;
        }
        lists.retain(|made| made.shown.digest != shown.digest);
        if lists.len() >= LISTS {
            lists.remove(0);
        }
        lists.push(Made { shown: shown.clone(), known });
    }
}

fn key(run: &Run, stage: usize, visit: u32) -> Gate {
    (run.run_id.clone(), stage, visit)
}

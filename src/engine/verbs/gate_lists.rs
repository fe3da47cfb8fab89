//! Lists of changes that were made for an open gate while nobody drove its run: the journal hears of one with the
//! decision.

use crate::run::shown::Shown;
use crate::run::state::Run;
use crate::sync::locked;
use std::collections::HashMap;
use std::sync::Mutex;

/// More than anybody has open.
const MANY: usize = 64;

/// A run, a stage and its visit.
type Gate = (String, usize, u32);

/// What the journal knew when a list was made, and what was shown then.
type Made = (Option<Shown>, Shown);

/// The newest list of each gate.
#[derive(Default)]
pub struct GateLists(Mutex<HashMap<Gate, Made>>);

impl GateLists {
    /// What was last shown at this gate, and whether the journal does not know that yet.
    pub fn last(&self, run: &Run, stage: usize, visit: u32) -> Option<(Shown, bool)> {
        let known = run.shown.get(&(stage, visit));
        let made = locked(&self.0).get(&(run.run_id.clone(), stage, visit)).cloned();
        // Where the journal knows another one by now, that was made later.
        match made.filter(|(then, _)| then.as_ref() == known) {
            Some((_, made)) => Some((made, true)),
            None => known.map(|known| (known.clone(), false)),
        }
    }

    /// Remembers what is shown now.
    pub fn remember(&self, run: &Run, stage: usize, visit: u32, shown: Shown) {
        let mut looks = locked(&self.0);
        if looks.len() >= MANY {
            looks.clear();
        }
        let known = run.shown.get(&(stage, visit)).cloned();
        looks.insert((run.run_id.clone(), stage, visit), (known, shown));
    }
}

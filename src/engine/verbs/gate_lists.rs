//! File lists that were made for an open gate while no drive was active. The journal gets such a list together with the
//! decision.

use crate::run::shown::Shown;
use crate::run::state::Run;
use crate::sync::locked;
use std::collections::HashMap;
use std::sync::Mutex;

/// Maximum number of gates whose lists are kept.
const MAX_GATES: usize = 64;

/// A run, a stage and a visit.
type Gate = (String, usize, u32);

/// The journal's list when this one was made, and this one.
type Made = (Option<Shown>, Shown);

/// The newest list of each gate.
#[derive(Default)]
pub struct GateLists(Mutex<HashMap<Gate, Made>>);

impl GateLists {
    /// The list that was last shown at this gate, and whether the journal still lacks it.
    pub fn last(&self, run: &Run, stage: usize, visit: u32) -> Option<(Shown, bool)> {
        let known = run.shown.get(&(stage, visit));
        let made = locked(&self.0).get(&(run.run_id.clone(), stage, visit)).cloned();
        // A list that reached the journal after this one was made is newer.
        match made.filter(|(then, _)| then.as_ref() == known) {
            Some((_, made)) => Some((made, true)),
            None => known.map(|known| (known.clone(), false)),
        }
    }

    /// Stores the list that is shown now.
    pub fn remember(&self, run: &Run, stage: usize, visit: u32, shown: Shown) {
        let mut looks = locked(&self.0);
        if looks.len() >= MAX_GATES {
            looks.clear();
        }
        let known = run.shown.get(&(stage, visit)).cloned();
        looks.insert((run.run_id.clone(), stage, visit), (known, shown));
    }
}

//! What a gate compares with and what it showed, as recorded in the journal.

use super::event::Event;

/// The files at the start of the run, or after an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Baseline {
    pub tree: String,
    /// Number of decisions made before it.
    pub decisions: usize,
}

/// A list of the files under review, as it was shown. It can be rebuilt from the two trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The tree that it compares with.
    pub from: Option<String>,
    /// The tree of the listed files; absent if there is no list.
    pub tree: Option<String>,
    pub digest: Option<String>,
    /// Why there is no list, if there is none.
    pub note: Option<String>,
}

impl Shown {
    pub fn event(self, stage: usize, visit: u32) -> Event {
        let Self { from, tree, digest, note } = self;
        Event::ReviewShown { stage, visit, from, tree, digest, note }
    }
}

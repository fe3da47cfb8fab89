//! What a gate compares with, and what it showed: the trees and digests that the journal holds.

use super::event::Event;

/// The files as they were at the beginning, or after an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Baseline {
    /// The git tree that they make.
    pub tree: String,
    /// How many decisions there had been by then.
    pub decisions: usize,
}

/// A list of the files under review, as it was shown. The list itself can be made again from the two trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The tree that was compared with.
    pub from: Option<String>,
    /// The tree that the files made; none where there is no list.
    pub tree: Option<String>,
    /// SHA-256 of the list.
    pub digest: Option<String>,
    /// Why there is no list, where there is none.
    pub note: Option<String>,
}

impl Shown {
    /// The record of it.
    pub fn event(self, stage: usize, visit: u32) -> Event {
        let Self { from, tree, digest, note } = self;
        Event::ReviewShown { stage, visit, from, tree, digest, note }
    }
}

//! What a gate compares with, and what it showed: the trees and digests that the journal holds.

use super::event::Event;

/// Characters of a list's digest that name it.
const NAME: usize = 12;
/// Fewer name none.
const LEAST: usize = 8;

/// The files as they were at the beginning, or as they were shown for an approval.
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
    /// SHA-256 of the list, or of why there is none; none in old journals where there was no list.
    pub digest: Option<String>,
    /// Why there is no list, where there is none.
    pub note: Option<String>,
    /// Whether it was shown because an approval did not fit the list before it, and was not taken.
    pub held: bool,
    /// Whether it was printed, where nobody has a window to see it in.
    pub printed: bool,
}

impl Shown {
    /// The record of it.
    pub fn event(self, stage: usize, visit: u32) -> Event {
        let Self { from, tree, digest, note, held, printed } = self;
        Event::ReviewShown { stage, visit, from, tree, digest, note, held, printed }
    }

    /// How a decision names it: the beginning of its digest.
    pub fn id(&self) -> Option<&str> {
        self.digest.as_deref().and_then(|digest| digest.get(..NAME))
    }

    /// Whether this names it.
    pub fn is(&self, id: &str) -> bool {
        id.len() >= LEAST && self.digest.as_ref().is_some_and(|digest| digest.starts_with(id))
    }
}

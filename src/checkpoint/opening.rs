//! The arguments for opening a run's checkpoints.

use super::attempt::Attempt;
use super::place::Place;
use std::path::PathBuf;

/// Finds the files that each attempt has written, relative to the project root. May be slow.
pub type Find = Box<dyn FnMut(&[Attempt]) -> Vec<Vec<String>> + Send>;

/// The arguments for opening a run's checkpoints.
pub struct Opening {
    pub place: Place,
    /// The file that keeps unwritten steps for a later process, while there are any.
    pub mark: Option<PathBuf>,
    /// Masks secrets in a text that we read ourselves.
    pub mask: Box<dyn Fn(&str) -> String + Send>,
    /// Finds the files that attempts have written.
    pub find: Find,
}

impl Opening {
    /// Without a file for unwritten steps, without file lookup, and without masking.
    pub(super) fn minimal(place: Place) -> Self {
        let find = |attempts: &[Attempt]| vec![Vec::new(); attempts.len()];
        Self { place, mark: None, mask: Box::new(str::to_owned), find: Box::new(find) }
    }
}

//! What checkpoints are opened with.

use super::attempt::Attempt;
use super::place::Place;
use std::path::PathBuf;

/// Finds the files that each of these attempts has written, relative to the project root. It may take its time.
pub type Find = Box<dyn FnMut(&[Attempt]) -> Vec<Vec<String>> + Send>;

/// What checkpoints are opened with.
pub struct Opening {
    /// Where they are.
    pub place: Place,
    /// A file that holds what waits as long as something does, for a process that comes later.
    pub mark: Option<PathBuf>,
    /// Takes what is secret out of a text that we read ourselves.
    pub mask: Box<dyn Fn(&str) -> String + Send>,
    /// Finds what attempts have written.
    pub find: Find,
}

impl Opening {
    /// The same where nothing is to be found, marked or masked.
    pub(super) fn bare(place: Place) -> Self {
        let find = |attempts: &[Attempt]| vec![Vec::new(); attempts.len()];
        Self { place, mark: None, mask: Box::new(str::to_owned), find: Box::new(find) }
    }
}

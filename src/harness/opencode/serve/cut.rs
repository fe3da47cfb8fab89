//! Lines that were too long to come whole.

use crate::harness::sink::LINE;

/// A line may lose so much of its beginning before it comes here.
const SLACK: usize = 64;

/// Whether a line was too long: it is cut before it comes here.
pub(super) const fn is_cut(text: &str) -> bool {
    text.len() + SLACK > LINE
}

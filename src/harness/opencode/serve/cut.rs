//! Recognizes lines that were too long.

use crate::harness::sink::LINE;

/// How many bytes a line may have lost before it gets here.
const SLACK: usize = 64;

/// Whether a line was cut, judged by its length.
pub(super) const fn is_cut(text: &str) -> bool {
    text.len() + SLACK > LINE
}

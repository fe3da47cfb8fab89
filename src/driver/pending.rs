//! A permission that waits for a human.

use crate::harness::Question;
use std::time::{Duration, Instant};

/// A permission that waits for a human.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) id: String,
    pub(super) launch: u32,
    pub(super) question: Question,
    pub(super) until: Instant,
}

impl Pending {
    /// How long it still waits.
    pub(super) fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }
}

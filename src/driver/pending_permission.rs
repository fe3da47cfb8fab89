//! A permission that waits for a human.

use crate::harness::Question;
use std::time::{Duration, Instant};

/// A permission that waits for a human.
#[derive(Debug)]
pub(super) struct PendingPermission {
    pub(super) id: String,
    pub(super) launch: u32,
    pub(super) question: Question,
    pub(super) until: Instant,
}

impl PendingPermission {
    /// How long it still waits.
    pub(super) fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }
}

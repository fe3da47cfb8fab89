//! A permission request that waits for the user.

use crate::harness::Question;
use std::time::{Duration, Instant};

/// A permission request that waits for the user.
#[derive(Debug)]
pub(super) struct PendingPermission {
    pub(super) id: String,
    pub(super) launch: u32,
    pub(super) question: Question,
    pub(super) until: Instant,
}

impl PendingPermission {
    /// The time that is left for an answer.
    pub(super) fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }
}

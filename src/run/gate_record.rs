//! A decision as the run remembers it.

use super::event::Decision;
use super::how::How;
use chrono::{DateTime, Utc};

/// A decision at a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateRecord {
    /// Index of the stage.
    pub stage: usize,
    /// The visit.
    pub visit: u32,
    /// What.
    pub decision: Decision,
    /// Why; empty for none.
    pub comment: String,
    /// Who.
    pub by: String,
    /// When.
    pub at: DateTime<Utc>,
    /// How it was made; none in journals of earlier versions.
    pub how: Option<How>,
    /// Digest of the files under review.
    pub digest: Option<String>,
    /// Digest of the list that it is for.
    pub review: Option<String>,
    /// How many agents had been launched by then.
    pub launches: u32,
}

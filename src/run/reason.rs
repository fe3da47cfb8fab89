//! The reasons for a pause.

use serde::{Deserialize, Serialize};

/// Why a run is paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// A gate waits for a decision.
    Gate,
    /// The drive ended unexpectedly.
    Interrupted,
    /// A human paused it.
    User,
    /// A stage failed for good.
    Failed,
    /// An agent reported that it cannot continue.
    Blocked,
    /// An agent has no login.
    Auth,
    NeedsHuman,
    /// The files that it would run next are not those that the user trusted.
    Trust,
}

impl Reason {
    /// Whether nothing went wrong, so that `retry` and `skip` do not apply.
    pub const fn refuses_retry(self) -> bool {
        matches!(self, Reason::Gate | Reason::Interrupted | Reason::User | Reason::Trust)
    }

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Reason::Gate => "gate",
            Reason::Interrupted => "interrupted",
            Reason::User => "user",
            Reason::Failed => "failed",
            Reason::Blocked => "blocked",
            Reason::Auth => "auth",
            Reason::NeedsHuman => "needs-human",
            Reason::Trust => "trust",
        }
    }
}

//! Why a run is paused.

use serde::{Deserialize, Serialize};

/// Why a run is paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// A human must decide.
    Gate,
    /// The drive ended without the run's doing.
    Interrupted,
    /// A human paused it.
    User,
    /// A stage failed for good.
    Failed,
    /// An agent says that it cannot go on.
    Blocked,
    /// An agent has no login.
    Auth,
    /// An agent asks.
    NeedsHuman,
    /// What it would drive next is not what the user agreed to.
    Trust,
}

impl Reason {
    /// Whether `retry` and `skip` are not for it: nothing has gone wrong.
    pub const fn waits_for_another_verb(self) -> bool {
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

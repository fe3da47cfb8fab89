//! The outcome of an attempt, which a harness reads from evidence and the run acts on.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// What runs a launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Harness {
    /// A human: the prompt opens in a buffer.
    Manual,
    /// An agent, by the harness's name.
    Agent(String),
}

impl Harness {
    /// The name as the user knows it.
    pub fn name(&self) -> &str {
        match self {
            Self::Manual => "manual",
            Self::Agent(name) => name,
        }
    }
}

impl From<String> for Harness {
    fn from(name: String) -> Self {
        if name == "manual" { Self::Manual } else { Self::Agent(name) }
    }
}

impl From<Harness> for String {
    fn from(harness: Harness) -> Self {
        harness.name().to_owned()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Outcome {
    /// A successful final event, a non-empty result, and all expectations met.
    Passed,
    /// An error result, no final event, an empty result, unmet expectations, a time limit, or an unknown failure.
    Failed {
        /// Short reason, for example `exit status 1` or `silent for 15m`.
        why: String,
    },
    /// A failure of which only the exit of the process is known; its last output must explain it.
    Exited {
        /// For example `exit status 1`, `killed by signal 9 (KILL)` or `no final event (exit status 1)`.
        why: String,
    },
    /// A failure that a retry cannot change: an unknown agent or model, an outdated program, a refused command line,
    /// the agent's own spending cap, or an unreadable result. The stage is not attempted again.
    FailedForGood {
        /// Short reason with what to do.
        why: String,
    },
    /// Overload or a lost connection; retried after a delay.
    Transient {
        /// In a few words.
        why: String,
    },
    /// A rate limit or quota. The run waits, and no attempt is spent.
    Limited {
        /// In a few words.
        why: String,
        /// End of the limit; 15 minutes from now if unknown.
        until: Option<DateTime<Utc>>,
    },
    /// The final message ends with the verdict `FAIL`. The stage is not attempted again.
    VerdictFail {
        /// What the verdict says.
        why: String,
    },
    /// The final message ends with the verdict `BLOCKED`. No attempt is spent.
    Blocked {
        /// What the verdict says.
        why: String,
    },
    /// The login is missing or refused. No attempt is spent.
    Auth {
        /// In a few words.
        why: String,
    },
    /// The agent asked a question, or a permission was denied without a human. No attempt is spent.
    NeedsHuman {
        /// The question or the denied permission, with the configuration line that would allow it, if there is one.
        question: String,
    },
}

impl Outcome {
    /// The text of the outcome, if it has one.
    pub fn text(&mut self) -> Option<&mut String> {
        match self {
            Outcome::Passed => None,
            Outcome::Failed { why: text }
            | Outcome::Exited { why: text }
            | Outcome::FailedForGood { why: text }
            | Outcome::Transient { why: text }
            | Outcome::Limited { why: text, .. }
            | Outcome::VerdictFail { why: text }
            | Outcome::Blocked { why: text }
            | Outcome::Auth { why: text }
            | Outcome::NeedsHuman { question: text } => Some(text),
        }
    }
}

/// Usage of an attempt. `None` is unknown; it is shown as unknown and never as zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Input and output tokens, including caches.
    pub tokens: Option<u64>,
    /// US dollars.
    #[serde(default, deserialize_with = "fraction")]
    pub cost: Option<f64>,
}

impl Usage {
    /// Adds `more`. A part that is unknown in one of them does not hide the part that is known in the other.
    pub fn add(&mut self, more: &Self) {
        self.tokens = self.tokens.into_iter().chain(more.tokens).reduce(u64::saturating_add);
        self.cost = self.cost.into_iter().chain(more.cost).reduce(|a, b| a + b);
    }
}

/// Reads a number with a fraction inside a tagged enum: `serde_json` with arbitrary precision passes it as an object
/// there, which `f64` does not accept.
fn fraction<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    Ok(Option::<serde_json::Number>::deserialize(deserializer)?.and_then(|number| number.as_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_can_be_read_inside_a_tagged_enum() {
        #[derive(Serialize, Deserialize, PartialEq, Debug)]
        #[serde(tag = "event")]
        enum Event {
            Ended { usage: Usage },
        }
        for cost in [Some(0.156_868), Some(2.0), Some(1e-7), None] {
            let event = Event::Ended { usage: Usage { tokens: Some(7), cost } };
            let text = serde_json::to_string(&event).unwrap();
            assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event, "{text}");
        }
    }
}

/// Identifies a process. An id alone may have been reused since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessRecord {
    /// Process id, which is also the id of its group.
    pub pid: u32,
    /// Start time from the kernel: clock ticks since boot on Linux, microseconds since the epoch on macOS.
    pub start_time: u64,
    /// The boot that `start_time` is relative to.
    pub boot_id: String,
}

/// An agent's session, which a later launch can continue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    pub harness: String,
    pub id: String,
}

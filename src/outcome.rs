//! How an attempt ended, read from evidence. Harnesses make it, the run acts on it.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// What carries out a launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Harness {
    /// A human: the prompt opens in a buffer.
    Manual,
    /// An agent, by the harness's name.
    Agent(String),
}

impl Harness {
    /// The name that the user knows it under.
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

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Outcome {
    /// A good final event, a non-empty result, expectations met.
    Passed,
    /// An error result, no final event, an empty result, unmet expectations, a time limit, or unclassifiable.
    Failed {
        /// In a few words, e.g. `exit status 1`, `silent for 15m`.
        why: String,
    },
    /// The same where nothing is known but how the process ended: what it printed last says why.
    Exited {
        /// How, e.g. `exit status 1`, `killed by signal 9 (KILL)`, `no final event (exit status 1)`.
        why: String,
    },
    /// What trying again cannot change: no such agent or model, a program too old, a refused command line, the agent's
    /// own spending cap, a result that cannot be read. No further attempt.
    FailedForGood {
        /// In a few words, with what to do.
        why: String,
    },
    /// Overload or a lost connection: tried again after a pause.
    Transient {
        /// In a few words.
        why: String,
    },
    /// A rate limit or quota: the run waits. Spends no attempt.
    Limited {
        /// In a few words.
        why: String,
        /// When it is over; unknown is 15 minutes from the end.
        until: Option<DateTime<Utc>>,
    },
    /// The final message ends with the verdict `FAIL`: no more attempts.
    VerdictFail {
        /// What the verdict says.
        why: String,
    },
    /// The final message ends with the verdict `BLOCKED`. Spends no attempt.
    Blocked {
        /// What the verdict says.
        why: String,
    },
    /// No login, or a refused one. Spends no attempt.
    Auth {
        /// In a few words.
        why: String,
    },
    /// The agent asked, or a machine refused it a permission. Spends no attempt.
    NeedsHuman {
        /// What was asked or refused, with the line to add to the configuration where there is one.
        question: String,
    },
}

impl Outcome {
    /// What it says, where it says anything.
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

/// What an attempt used. `None` is unknown, which is shown as unknown and never as zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens, in and out, caches included.
    pub tokens: Option<u64>,
    /// United States dollars.
    #[serde(default, deserialize_with = "fraction")]
    pub cost: Option<f64>,
}

impl Usage {
    /// Counts more to it. What is not known of one of them does not hide what is known of the other.
    pub fn add(&mut self, more: &Self) {
        self.tokens = self.tokens.into_iter().chain(more.tokens).reduce(u64::saturating_add);
        self.cost = self.cost.into_iter().chain(more.cost).reduce(|a, b| a + b);
    }
}

/// A number with a fraction, also inside of a tagged enum: `serde_json` with arbitrary precision hands it over there as
/// an object, which `f64` by itself does not take.
fn fraction<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    Ok(Option::<serde_json::Number>::deserialize(deserializer)?.and_then(|number| number.as_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_survives_a_tagged_enum() {
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

/// A process, exactly: an id alone may have been given to another since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessRecord {
    /// Process id, which is also its group's.
    pub pid: u32,
    /// When the kernel says it started: clock ticks since boot on Linux, microseconds since the epoch on macOS.
    pub start_time: u64,
    /// The boot that `start_time` counts from.
    pub boot_id: String,
}

/// An agent's own session, to go on in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The harness that it belongs to.
    pub harness: String,
    /// The harness's id for it.
    pub id: String,
}

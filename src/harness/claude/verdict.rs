//! Decides the outcome of a Claude Code launch: from its last result, or from what it printed without one.

use super::progress::Reader;
use super::wire::Line;
use crate::harness::end_text::{exit_words, first_line};
use crate::harness::provider_errors::{self, Trouble};
use crate::outcome::Outcome;
use crate::process::Exit;
use chrono::{DateTime, Utc};
use serde_json::Value;

/// The parts of a `result` line that decide the outcome.
#[derive(Clone, Debug, Default)]
pub struct Final {
    subtype: String,
    aborted: bool,
    is_error: bool,
    pub text: String,
    errors: Vec<String>,
    status: Option<u16>,
    turns: Option<u64>,
    spoke: bool,
}

impl Final {
    pub fn of(line: &Line<'_>) -> Self {
        let errors = line.errors.as_ref().and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        Self {
            subtype: line.subtype.str().to_owned(),
            aborted: line.terminal_reason.str().starts_with("aborted"),
            is_error: line.is_error.yes(),
            text: line.result.str().to_owned(),
            errors: errors.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect(),
            status: line.api_error_status.0.map(|status| status as u16),
            turns: line.num_turns.0.map(|turns| turns as u64),
            spoke: line.usage.get().is_none_or(|tokens| tokens.output_tokens.count() > 0),
        }
    }

    /// The error in one line.
    fn words(&self) -> String {
        let text = if self.errors.is_empty() { self.text.clone() } else { self.errors.join("; ") };
        if text.trim().is_empty() { self.subtype.replace('_', " ") } else { first_line(&text) }
    }

    /// Whether the error is that the session does not exist.
    pub fn lost_session(&self) -> bool {
        self.is_error && self.errors.iter().any(|error| is_lost_session(error))
    }

    pub fn outcome(&self, reader: &Reader, now: DateTime<Utc>) -> Outcome {
        let why = self.words();
        if !self.is_error {
            return match () {
                () if !self.spoke && provider_errors::is_bare_limit(&self.text) => {
                    limited(&self.text, reader, now)
                }
                () if self.turns == Some(0) => {
                    Outcome::Failed { why: format!("the agent did nothing: {why}") }
                }
                () if self.text.trim().is_empty() => {
                    Outcome::Failed { why: "the result is empty".to_owned() }
                }
                () => Outcome::Passed,
            };
        }
        match self.subtype.as_str() {
            "error_max_turns" => return Outcome::Failed { why },
            // The user's own budget, which would also stop the next attempt.
            "error_max_budget_usd" => return Outcome::FailedForGood { why },
            "error_during_execution" if reader.limited_until.is_none() => {
                let why = if self.aborted { "the agent was interrupted".to_owned() } else { why };
                return Outcome::Failed { why };
            }
            _ => {}
        }
        if reader.error.as_deref() == Some("model_not_found") {
            return Outcome::FailedForGood { why };
        }
        match trouble(self.status, reader.error.as_deref(), &why) {
            Trouble::Auth => Outcome::Auth { why },
            Trouble::Limit => limited(&why, reader, now),
            Trouble::Transient => Outcome::Transient { why },
            Trouble::Other => Outcome::Failed { why },
        }
    }
}

/// The kind of an error. The status counts most, then the error's name, then its text.
fn trouble(status: Option<u16>, error: Option<&str>, text: &str) -> Trouble {
    let worded = provider_errors::trouble(text);
    match (status, error) {
        (Some(401 | 403), _) => Trouble::Auth,
        (Some(429), _) => Trouble::Limit,
        // Some providers report a used-up quota as a bad request.
        (Some(400 | 402), _) if worded == Trouble::Limit => Trouble::Limit,
        (Some(402), _) => Trouble::Limit,
        (Some(408 | 500..=599), _) => Trouble::Transient,
        (Some(_), _) => Trouble::Other,
        (None, Some("authentication_failed" | "oauth_org_not_allowed")) => Trouble::Auth,
        (None, Some("rate_limit" | "billing_error")) => Trouble::Limit,
        (None, Some("overloaded" | "server_error")) => Trouble::Transient,
        (None, Some("invalid_request" | "model_not_found" | "max_output_tokens")) => Trouble::Other,
        (None, _) => worded,
    }
}

fn limited(text: &str, reader: &Reader, now: DateTime<Utc>) -> Outcome {
    provider_errors::limited(text, reader.limited_until, now)
}

/// The outcome without a result.
pub fn without_result(exit: Exit, reader: &Reader) -> Outcome {
    let errors = reader.errors.text();
    let said = errors.lines().find(|line| !line.trim().is_empty()).map(first_line);
    let Some(said) = said.filter(|_| exit != Exit::Code(0)) else {
        return Outcome::Exited { why: format!("no final event ({})", exit_words(exit)) };
    };
    match provider_errors::trouble(&said) {
        Trouble::Auth => Outcome::Auth { why: said },
        _ => Outcome::Failed { why: format!("{said} ({})", exit_words(exit)) },
    }
}

/// Whether an error text means that the session does not exist.
pub fn is_lost_session(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    text.contains("no conversation found") || text.contains("session not found")
}

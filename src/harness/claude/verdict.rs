//! How Claude Code's end is judged: by its last result, and where there is none, by what else it left.

use super::progress::Reader;
use super::wire::Line;
use crate::harness::end_text::{exit_words, first_line};
use crate::harness::provider_errors::{self, Trouble};
use crate::outcome::Outcome;
use crate::process::Exit;
use chrono::{DateTime, Utc};
use serde_json::Value;

/// A `result` line, as far as it decides.
#[derive(Clone, Debug, Default)]
pub struct Final {
    subtype: String,
    aborted: bool,
    is_error: bool,
    /// The final text.
    pub text: String,
    errors: Vec<String>,
    status: Option<u16>,
    turns: Option<u64>,
    spoke: bool,
}

impl Final {
    /// Keeps what decides.
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

    /// What it says of an error, in one line.
    fn words(&self) -> String {
        let text = if self.errors.is_empty() { self.text.clone() } else { self.errors.join("; ") };
        if text.trim().is_empty() { self.subtype.replace('_', " ") } else { first_line(&text) }
    }

    /// Whether it says that there is no such session.
    pub fn lost_session(&self) -> bool {
        self.is_error && self.errors.iter().any(|error| is_lost_session(error))
    }

    /// The outcome.
    pub fn outcome(&self, reader: &Reader, now: DateTime<Utc>) -> Outcome {
        let why = self.words();
        if !self.is_error {
            return match () {
                () if !self.spoke && provider_errors::is_bare_limit(&self.text) => {
                    limited(&self.text, reader, now)
                }
                () if self.turns == Some(0) => Outcome::Failed { why: format!("it did nothing: {why}") },
                () if self.text.trim().is_empty() => Outcome::Failed { why: "an empty result".to_owned() },
                () => Outcome::Passed,
            };
        }
        match self.subtype.as_str() {
            "error_max_turns" => return Outcome::Failed { why },
            // Its own cap: the next attempt would run into it as well.
            "error_max_budget_usd" => return Outcome::FailedForGood { why },
            "error_during_execution" if reader.limited_until.is_none() => {
                let why = if self.aborted { "it was interrupted".to_owned() } else { why };
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
            Trouble::Passing => Outcome::Transient { why },
            Trouble::Other => Outcome::Failed { why },
        }
    }
}

/// The status outranks the error's name, and that the wording.
fn trouble(status: Option<u16>, error: Option<&str>, text: &str) -> Trouble {
    let worded = provider_errors::trouble(text);
    match (status, error) {
        (Some(401 | 403), _) => Trouble::Auth,
        (Some(429), _) => Trouble::Limit,
        // Some quotas are told as a bad request.
        (Some(400 | 402), _) if worded == Trouble::Limit => Trouble::Limit,
        (Some(402), _) => Trouble::Limit,
        (Some(408 | 500..=599), _) => Trouble::Passing,
        (Some(_), _) => Trouble::Other,
        (None, Some("authentication_failed" | "oauth_org_not_allowed")) => Trouble::Auth,
        (None, Some("rate_limit" | "billing_error")) => Trouble::Limit,
        (None, Some("overloaded" | "server_error")) => Trouble::Passing,
        (None, Some("invalid_request" | "model_not_found" | "max_output_tokens")) => Trouble::Other,
        (None, _) => worded,
    }
}

fn limited(text: &str, reader: &Reader, now: DateTime<Utc>) -> Outcome {
    provider_errors::limited(text, reader.limited_until, now)
}

/// The outcome where no result came.
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

/// Whether a text says that there is no such session.
pub fn is_lost_session(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    text.contains("no conversation found") || text.contains("session not found")
}

//! Decides the outcome of an OpenCode launch.

use super::names::HINT;
use super::progress::{Last, Reader};
use super::setup::Setup;
use crate::harness::end_text::{exit_words, first_line};
use crate::harness::{End, Stopped};
use crate::outcome::Outcome;
use crate::terminal::plain;
use regex::Regex;
use std::sync::LazyLock;

/// Maximum number of consecutive cut streams, because OpenCode repeats such a step without end.
pub(super) const MAX_CUTS: u32 = 4;
/// The outcome, from the last event.
pub(super) fn outcome(setup: &Setup, reader: &Reader, end: &End, refused: &[String]) -> Outcome {
    let errors = plain(&reader.errors.text());
    match &reader.last {
        Last::Good if reader.message().trim().is_empty() => {
            Outcome::Failed { why: "the result is empty".to_owned() }
        }
        // The unreadable event may have been the last text, or the verdict in it.
        Last::Good => reader.damaged.clone().unwrap_or(Outcome::Passed),
        Last::Short(reason) => Outcome::Failed { why: format!("the answer ended early ({reason})") },
        Last::Error(error) => match error.outcome(chrono::Utc::now()) {
            // OpenCode's error for an unknown skill does not mention the skill.
            Outcome::Failed { why } if setup.is_unknown_skill() => Outcome::Failed {
                why: format!("skill \"{}\" has no file, and OpenCode reports: {why}", setup.name()),
            },
            outcome => outcome,
        },
        Last::Nothing | Last::Open | Last::Tools | Last::Unknown if !refused.is_empty() => {
            // OpenCode ends when a permission is refused, without telling the model.
            Outcome::NeedsHuman { question: format!("refused: {}; {HINT}", refused.join(", ")) }
        }
        Last::Unknown if !matches!(end.stopped, Some(Stopped::Asked | Stopped::Limit(_))) => {
            Outcome::Transient { why: "the model's stream was cut".to_owned() }
        }
        _ => {
            let said = first_line(errors.trim_start_matches("Error: "));
            if let Some(damaged) = &reader.damaged {
                return damaged.clone();
            }
            if let (Last::Nothing, Some(option)) = (&reader.last, unknown_option(&errors)) {
                let why = format!(
                    "this release of OpenCode has no option \"{option}\"; update OpenCode, or see harnesses.opencode.args"
                );
                return Outcome::FailedForGood { why };
            }
            let exit = match end.stopped {
                Some(Stopped::Harness) if said.is_empty() => "the session became idle without one".to_owned(),
                Some(Stopped::Harness) => "the session became idle without a final event".to_owned(),
                _ => exit_words(end.exit),
            };
            let why =
                if said.is_empty() { format!("no final event ({exit})") } else { format!("{said} ({exit})") };
            Outcome::Failed { why }
        }
    }
}

/// The part of the command line that OpenCode does not know.
fn unknown_option(errors: &str) -> Option<String> {
    static UNKNOWN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)unknown (?:arguments?|options?|commands?):?\s+['\x22]?([^\s'\x22,]+)")
            .expect("a constant pattern")
    });
    UNKNOWN.captures(errors).map(|found| found[1].to_owned())
}

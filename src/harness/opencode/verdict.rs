//! What became of a launch of OpenCode.

use super::names::HINT;
use super::progress::{Last, Reader};
use super::setup::Setup;
use crate::harness::end_text::{exit_words, first_line};
use crate::harness::{End, Stopped};
use crate::outcome::Outcome;
use crate::terminal::plain;
use regex::Regex;
use std::sync::LazyLock;

/// Steps without a reason in a row, after which a cut stream will not mend: it repeats the step without end.
pub(super) const CUTS: u32 = 4;
/// The outcome, from what was read last.
pub(super) fn judged(setup: &Setup, reader: &Reader, end: &End, refused: &[String]) -> Outcome {
    let errors = plain(&reader.errors.text());
    match &reader.last {
        Last::Good if reader.message().trim().is_empty() => {
            Outcome::Failed { why: "an empty result".to_owned() }
        }
        // The last text, or the verdict in it, may be what could not be read.
        Last::Good => reader.damaged.clone().unwrap_or(Outcome::Passed),
        Last::Short(reason) => Outcome::Failed { why: format!("its answer ended early ({reason})") },
        Last::Error(error) => match error.outcome(chrono::Utc::now()) {
            // Its own words for a name that it does not know say nothing of it.
            Outcome::Failed { why } if setup.is_strange_skill() => Outcome::Failed {
                why: format!("no file of a skill \"{}\" is found, and OpenCode says: {why}", setup.name()),
            },
            outcome => outcome,
        },
        Last::Nothing | Last::Open | Last::Tools | Last::Unknown if !refused.is_empty() => {
            // It ends where a permission is refused, and says nothing of it to the model.
            Outcome::NeedsHuman { question: format!("refused: {}; {HINT}", refused.join(", ")) }
        }
        Last::Unknown if !matches!(end.stopped, Some(Stopped::Asked | Stopped::Limit(_))) => {
            Outcome::Transient { why: "its stream was cut".to_owned() }
        }
        _ => {
            let said = first_line(errors.trim_start_matches("Error: "));
            if let Some(damaged) = &reader.damaged {
                return damaged.clone();
            }
            if let (Last::Nothing, Some(option)) = (&reader.last, unknown_option(&errors)) {
                let why = format!(
                    "this release of OpenCode does not know \"{option}\"; update it, or see harnesses.opencode.args"
                );
                return Outcome::FailedForGood { why };
            }
            let exit = match end.stopped {
                Some(Stopped::Harness) if said.is_empty() => "it came to rest without one".to_owned(),
                Some(Stopped::Harness) => "it came to rest without a final event".to_owned(),
                _ => exit_words(end.exit),
            };
            let why =
                if said.is_empty() { format!("no final event ({exit})") } else { format!("{said} ({exit})") };
            Outcome::Failed { why }
        }
    }
}

/// The part of the command line that it does not know.
fn unknown_option(errors: &str) -> Option<String> {
    static UNKNOWN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)unknown (?:arguments?|options?|commands?):?\s+['\x22]?([^\s'\x22,]+)")
            .expect("a constant pattern")
    });
    UNKNOWN.captures(errors).map(|found| found[1].to_owned())
}

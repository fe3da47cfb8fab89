//! What an attempt came to, from the evidence in SPEC section 5's order: the harness's reading of the final event,
//! then the verdict in the final message and what the stage expects, then refused permissions. Pure.

use crate::harness::Ending;
use crate::outcome::Outcome;
use serde_json::Value;

/// What the stage expects, looked up on disk already.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// Whether anything was declared.
    pub declared: bool,
    /// Globs that no file met.
    pub missing: Vec<String>,
    /// The verdict that the final message must end with.
    pub verdict: Option<String>,
    /// Whether a `FAIL` is tried again (checkpoint keys `EXECUTE` and `FIX`).
    pub retry_fail: bool,
}

/// The outcome of an attempt.
pub fn judge(ending: &Ending, expected: &Expected) -> Outcome {
    let said = verdict(&ending.message);
    match (&ending.outcome, &said) {
        (Outcome::Passed | Outcome::Failed { .. }, Some(verdict)) if verdict.word == "BLOCKED" => {
            return Outcome::Blocked { why: verdict.notes("the agent says that it is blocked") };
        }
        (Outcome::Passed | Outcome::Failed { .. }, Some(verdict)) if verdict.word == "FAIL" => {
            let why = verdict.notes("verdict FAIL");
            return if expected.retry_fail { Outcome::Failed { why } } else { Outcome::VerdictFail { why } };
        }
        (Outcome::Passed, _) => {}
        (other, _) => return other.clone(),
    }
    let unmet = unmet(expected, said.as_ref());
    let met = expected.declared && unmet.is_none();
    if !ending.refusals.is_empty() && !met {
        return Outcome::NeedsHuman { question: ending.refusals.join("; ") };
    }
    if let Some(why) = unmet {
        return Outcome::Failed { why };
    }
    if ending.message.trim().is_empty() {
        return Outcome::Failed { why: "it ended without a result".into() };
    }
    Outcome::Passed
}

fn unmet(expected: &Expected, said: Option<&Verdict>) -> Option<String> {
    if let Some(glob) = expected.missing.first() {
        let more = match expected.missing.len() {
            1 => String::new(),
            n => format!(" (and {} more)", n - 1),
        };
        return Some(format!("no file that matches \"{glob}\" was written{more}"));
    }
    let wanted = expected.verdict.as_deref()?;
    match said {
        Some(verdict) if verdict.word == wanted => None,
        Some(verdict) => Some(format!("the verdict is \"{}\", not \"{wanted}\"", verdict.word)),
        None => Some(format!("the final message does not end with the verdict \"{wanted}\"")),
    }
}

/// A verdict at the end of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// E.g. `PASS`.
    pub word: String,
    /// What it says besides.
    note: Option<String>,
}

impl Verdict {
    fn notes(&self, otherwise: &str) -> String {
        self.note.clone().filter(|note| !note.trim().is_empty()).unwrap_or_else(|| otherwise.to_owned())
    }
}

/// How many opening braces from the end are tried.
const BRACES: usize = 64;

/// The JSON object with a `verdict` that ends the message, a closing code fence after it allowed.
pub fn verdict(message: &str) -> Option<Verdict> {
    let end = message.trim_end().trim_end_matches('`').trim_end();
    if !end.ends_with('}') {
        return None;
    }
    for (at, _) in end.rmatch_indices('{').take(BRACES) {
        let Ok(Value::Object(object)) = serde_json::from_str::<Value>(&end[at..]) else { continue };
        let Some(word) = object.get("verdict").and_then(Value::as_str) else { continue };
        let note =
            ["notes", "reason", "message", "summary"].iter().find_map(|key| object.get(*key)?.as_str());
        return Some(Verdict { word: word.to_owned(), note: note.map(str::to_owned) });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Usage;

    fn ending(outcome: Outcome, message: &str, refusals: &[&str]) -> Ending {
        Ending {
            outcome,
            message: message.into(),
            usage: Usage::default(),
            refusals: refusals.iter().map(|&text| text.into()).collect(),
            tail: String::new(),
        }
    }

    #[test]
    fn the_verdict_is_the_object_that_ends_the_message() {
        let word = |text: &str| verdict(text).map(|verdict| verdict.word);
        assert_eq!(word("Done.\n{\"verdict\": \"PASS\"}\n"), Some("PASS".into()));
        assert_eq!(
            word("```json\n{\"verdict\":\"FAIL\",\"issues\":[{\"a\":{}}]}\n```\n"),
            Some("FAIL".into())
        );
        assert_eq!(word("{\"verdict\":\"PASS\"} is what I would say"), None);
        assert_eq!(
            word("{\"a\": {\"verdict\": \"PASS\"}}"),
            None,
            "an inner object does not end the message"
        );
        assert_eq!(word("no braces"), None);
    }

    #[test]
    fn a_verdict_outranks_exit_and_expectations() {
        let blocked = ending(Outcome::Passed, "{\"verdict\":\"BLOCKED\",\"notes\":\"no database\"}", &[]);
        assert_eq!(judge(&blocked, &Expected::default()), Outcome::Blocked { why: "no database".into() });
        let fail = ending(Outcome::Failed { why: "exit status 1".into() }, "{\"verdict\":\"FAIL\"}", &[]);
        assert_eq!(judge(&fail, &Expected::default()), Outcome::VerdictFail { why: "verdict FAIL".into() });
        let again = Expected { retry_fail: true, ..Expected::default() };
        assert_eq!(judge(&fail, &again), Outcome::Failed { why: "verdict FAIL".into() });
    }

    #[test]
    fn a_refused_permission_needs_a_human_unless_the_expectations_are_met() {
        let refused = ending(Outcome::Passed, "I could not run it.", &["Bash was refused"]);
        assert!(matches!(judge(&refused, &Expected::default()), Outcome::NeedsHuman { .. }));
        let met = Expected { declared: true, ..Expected::default() };
        assert_eq!(judge(&refused, &met), Outcome::Passed);
        let unmet = Expected { declared: true, missing: vec!["a".into()], ..Expected::default() };
        assert!(matches!(judge(&refused, &unmet), Outcome::NeedsHuman { .. }));
    }

    #[test]
    fn an_empty_result_and_an_unmet_expectation_fail() {
        assert!(matches!(
            judge(&ending(Outcome::Passed, " \n", &[]), &Expected::default()),
            Outcome::Failed { .. }
        ));
        let verdict = Expected { declared: true, verdict: Some("PASS".into()), ..Expected::default() };
        assert!(matches!(judge(&ending(Outcome::Passed, "fine", &[]), &verdict), Outcome::Failed { .. }));
        assert_eq!(judge(&ending(Outcome::Passed, "{\"verdict\":\"PASS\"}", &[]), &verdict), Outcome::Passed);
    }
}

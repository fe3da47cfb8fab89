//! Decides the outcome of an attempt from this evidence, in order: the harness's reading of the final event, the
//! verdict in the final message and what the stage expects, and refused permissions. Pure.

use super::verdict::{Verdict, verdict};
use crate::harness::Ending;
use crate::outcome::Outcome;
use crate::prompt::head;

/// Length limit of an invalid verdict in messages, in bytes.
const WORD: usize = 80;

/// What the stage expects, already compared with the disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// Whether the stage declares any expectation.
    pub declared: bool,
    /// Globs without a matching file.
    pub missing: Vec<String>,
    /// The verdict with which the final message must end.
    pub verdict: Option<String>,
    /// Whether a `FAIL` is retried (checkpoint keys `EXECUTE` and `FIX`).
    pub retry_fail: bool,
}

/// Decides the outcome of an attempt.
pub fn judge(ending: &Ending, expected: &Expected) -> Outcome {
    let said = verdict(&ending.message);
    let decides = matches!(ending.outcome, Outcome::Passed | Outcome::Failed { .. } | Outcome::Exited { .. });
    let notes = |note: &Option<String>, otherwise: &str| note.clone().unwrap_or_else(|| otherwise.to_owned());
    match &said {
        _ if !decides => return ending.outcome.clone(),
        Verdict::Blocked(note) => {
            return Outcome::Blocked { why: notes(note, "the agent says that it is blocked") };
        }
        Verdict::Fail(note) => {
            let why = notes(note, "verdict FAIL");
            return if expected.retry_fail { Outcome::Failed { why } } else { Outcome::VerdictFail { why } };
        }
        _ => {}
    }
    if let Some(why) = unclear(&said, expected) {
        // Report the other failure too.
        return Outcome::Failed {
            why: match &ending.outcome {
                Outcome::Failed { why: other } | Outcome::Exited { why: other } => format!("{other}; {why}"),
                _ => why,
            },
        };
    }
    if ending.outcome != Outcome::Passed {
        return ending.outcome.clone();
    }
    let unmet = unmet(expected, &said);
    let met = expected.declared && unmet.is_none();
    if !ending.refusals.is_empty() && !met {
        return Outcome::NeedsHuman { question: ending.refusals.join("; ") };
    }
    if let Some(why) = unmet {
        return Outcome::Failed { why };
    }
    if ending.message.trim().is_empty() {
        return Outcome::Failed { why: "the agent ended without a result".into() };
    }
    Outcome::Passed
}

/// The error for a verdict that is neither positive nor negative.
fn unclear(said: &Verdict, expected: &Expected) -> Option<String> {
    const FORM: &str = "end with the line {\"verdict\": \"PASS\"}, or FAIL or BLOCKED in place of PASS";
    match said {
        Verdict::Unreadable => Some(format!("the verdict cannot be read; {FORM}")),
        Verdict::Other(_) if expected.verdict.as_deref().is_some_and(|wanted| said.is(wanted)) => None,
        Verdict::Other(word) => {
            Some(format!("the verdict \"{}\" is not one of PASS, FAIL and BLOCKED; {FORM}", head(word, WORD)))
        }
        _ => None,
    }
}

fn unmet(expected: &Expected, said: &Verdict) -> Option<String> {
    if let Some(glob) = expected.missing.first() {
        let more = match expected.missing.len() {
            1 => String::new(),
            n => format!(" (and {} more)", n - 1),
        };
        return Some(format!("no file that matches \"{glob}\" was written{more}"));
    }
    let wanted = expected.verdict.as_deref()?;
    match said.word() {
        Some(_) if said.is(wanted) => None,
        Some(word) => Some(format!("the verdict is \"{word}\", not \"{wanted}\"")),
        None => Some(format!("the final message does not end with the verdict \"{wanted}\"")),
    }
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
    fn a_verdict_outranks_exit_and_expectations() {
        let blocked = ending(Outcome::Passed, "{\"verdict\":\"BLOCKED\",\"notes\":\"no database\"}", &[]);
        assert_eq!(judge(&blocked, &Expected::default()), Outcome::Blocked { why: "no database".into() });
        let fail = ending(Outcome::Exited { why: "exit status 1".into() }, "{\"verdict\":\"FAIL\"}", &[]);
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

    #[test]
    fn an_unclear_verdict_fails_the_attempt() {
        let failed = |message: &str, expected: &Expected| match judge(
            &ending(Outcome::Passed, message, &[]),
            expected,
        ) {
            Outcome::Failed { why } => why,
            other => panic!("{message}: {other:?}"),
        };
        let expected = Expected::default();
        assert!(
            failed("{\"verdict\": \"MAYBE\"}", &expected).starts_with("the verdict \"MAYBE\" is not one of")
        );
        assert!(failed("{\"verdict\": FAIL}", &expected).starts_with("the verdict cannot be read; end with"));
        let retry = Expected { retry_fail: true, ..Expected::default() };
        assert!(failed("\"verdict\": \"FAIL\"", &retry).starts_with("the verdict cannot be read"));
        let broken = ending(Outcome::Exited { why: "exit status 1".into() }, "{\"verdict\": 7}", &[]);
        let Outcome::Failed { why } = judge(&broken, &expected) else { panic!() };
        assert!(why.starts_with("exit status 1; the verdict \"7\""), "{why}");
        let limited = ending(Outcome::Limited { why: "w".into(), until: None }, "{\"verdict\": 7}", &[]);
        assert!(matches!(judge(&limited, &expected), Outcome::Limited { .. }), "evidence comes in order");
    }

    #[test]
    fn a_declared_verdict_is_read_leniently_too() {
        let own = Expected { declared: true, verdict: Some("Ready".into()), ..Expected::default() };
        assert_eq!(judge(&ending(Outcome::Passed, "{\"verdict\": \"READY\"}", &[]), &own), Outcome::Passed);
        let pass = Expected { declared: true, verdict: Some("PASS".into()), ..Expected::default() };
        assert_eq!(judge(&ending(Outcome::Passed, "{\"verdict\": \"passed\"}", &[]), &pass), Outcome::Passed);
    }
}

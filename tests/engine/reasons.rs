//! The tables of outcomes, pause reasons and verbs, cell by cell, on the pure machine.

use crate::machine_dsl::{begun, decides, plan, time};
use chrono::{DateTime, Duration, Utc};
use superpower::outcome::{Harness, Outcome, Session, Usage};
use superpower::run::effect::Effect;
use superpower::run::event::{Decision, Event, Record};
use superpower::run::machine::{self, Refusal};
use superpower::run::state::{Reason, Run, Step};

const STAGES: &str = "stages:
  - {agent: a}
  - {gate: human-approval}
  - {agent: b}
";

struct Table {
    run: Run,
    at: DateTime<Utc>,
}

impl Table {
    fn new() -> Self {
        let (run, at) = (begun(plan(STAGES)), time(0));
        let mut table = Self { run, at };
        table.decide();
        table
    }

    fn step(&mut self, event: Event) -> Result<Vec<Effect>, Refusal> {
        machine::step(&mut self.run, &Record { at: self.at, event })
    }

    fn decide(&mut self) -> Vec<Effect> {
        let stage = self.run.current().unwrap();
        self.step(Event::StageDecided { stage, run: true, why: String::new() }).unwrap()
    }

    fn end(&mut self, outcome: Outcome) -> Vec<Effect> {
        let launch = self.run.launches;
        let (message, tail) = ("done".to_owned(), "its tail".to_owned());
        self.step(Event::AttemptEnded { launch, outcome, message, tail, usage: Usage::default() }).unwrap()
    }

    /// A run that is paused for this reason.
    fn paused(reason: Reason) -> Self {
        let mut table = Self::new();
        match reason {
            Reason::Gate => {
                table.end(Outcome::Passed);
                table.decide();
            }
            Reason::Interrupted => drop(table.step(Event::Interrupted { why: "left".into() })),
            Reason::User => {
                table.step(Event::PauseRequested { by: "ann".into() }).unwrap();
                table.end(Outcome::Passed);
            }
            Reason::Failed => drop(table.end(Outcome::VerdictFail { why: "no".into() })),
            Reason::Blocked => drop(table.end(Outcome::Blocked { why: "no".into() })),
            Reason::Auth => drop(table.end(Outcome::Auth { why: "no".into() })),
            Reason::NeedsHuman => drop(table.end(Outcome::NeedsHuman { question: "which?".into() })),
            Reason::Trust => {
                let files = vec!["CLAUDE.md (added)".to_owned()];
                table.step(Event::TrustLapsed { launch: 1, resume: false, files }).unwrap();
            }
        }
        assert_eq!(table.run.phase.reason(), Some(reason));
        table
    }

    fn gate(decision: Decision) -> Event {
        decides(1, 1, decision)
    }
}

/// Until when the first stage waits.
fn rests(table: &Table) -> Option<DateTime<Utc>> {
    match table.run.stages[0].step {
        Step::Delayed { until, .. } => Some(until),
        _ => None,
    }
}

fn starts(effects: &[Effect]) -> Option<(u32, Option<Session>)> {
    effects.iter().find_map(|effect| match effect {
        Effect::StartAgent { launch, session, .. } => Some((*launch, session.clone())),
        _ => None,
    })
}

const REASONS: [Reason; 8] = [
    Reason::Gate,
    Reason::Interrupted,
    Reason::User,
    Reason::Failed,
    Reason::Blocked,
    Reason::Auth,
    Reason::NeedsHuman,
    Reason::Trust,
];

#[test]
fn every_cell_of_reasons_and_verbs() {
    let by = || "ann".to_owned();
    let verbs: [(&str, Event); 7] = [
        ("resume", Event::Resumed { by: by(), how: None }),
        ("approve", Table::gate(Decision::Approve)),
        ("changes", Table::gate(Decision::Changes)),
        ("reject", Table::gate(Decision::Reject)),
        ("retry", Event::Retried { by: by(), comment: String::new(), how: None }),
        ("skip", Event::Skipped { by: by(), how: None }),
        ("cancel", Event::Cancelled { by: by(), how: None }),
    ];
    let allowed = |reason: Reason, verb: &str| match reason {
        Reason::Gate => matches!(verb, "resume" | "approve" | "changes" | "reject" | "cancel"),
        Reason::Interrupted | Reason::User | Reason::Trust => matches!(verb, "resume" | "cancel"),
        _ => matches!(verb, "resume" | "retry" | "skip" | "cancel"),
    };
    for reason in REASONS {
        for (verb, event) in &verbs {
            let mut table = Table::paused(reason);
            let before = format!("{:?}", table.run);
            let answer = table.step(event.clone());
            assert_eq!(answer.is_ok(), allowed(reason, verb), "{verb} at {reason:?}: {answer:?}");
            match answer {
                Err(_) => assert_eq!(format!("{:?}", table.run), before, "{verb} at {reason:?}"),
                Ok(effects) if (reason, *verb) == (Reason::Gate, "resume") => {
                    assert_eq!(table.run.phase.reason(), Some(Reason::Gate), "resume never decides");
                    assert!(effects.contains(&Effect::OpenGate { stage: 1, visit: 1 }));
                }
                Ok(_) => assert_eq!(table.run.phase.reason(), None, "{verb} at {reason:?} leaves the pause"),
            }
        }
        assert!(
            Table::paused(reason).step(Event::PauseRequested { by: by() }).is_err(),
            "pause at {reason:?}"
        );
    }
}

#[test]
fn resume_continues_the_session_except_after_a_failure() {
    let session = Session { harness: "fake".into(), id: "s".into() };
    for (reason, expected) in [
        (Reason::Interrupted, Some(session.clone())),
        (Reason::Failed, None),
        (Reason::Blocked, Some(session.clone())),
        (Reason::Auth, Some(session.clone())),
        (Reason::NeedsHuman, Some(session.clone())),
    ] {
        let mut table = Table::new();
        table.step(Event::SessionOpened { launch: 1, session: session.clone() }).unwrap();
        match reason {
            Reason::Interrupted => drop(table.step(Event::Interrupted { why: String::new() })),
            Reason::Failed => drop(table.end(Outcome::VerdictFail { why: "no".into() })),
            Reason::Blocked => drop(table.end(Outcome::Blocked { why: "no".into() })),
            Reason::Auth => drop(table.end(Outcome::Auth { why: "no".into() })),
            _ => drop(table.end(Outcome::NeedsHuman { question: "?".into() })),
        }
        let effects = table.step(Event::Resumed { by: "ann".into(), how: None }).unwrap();
        assert_eq!(starts(&effects), Some((2, expected)), "{reason:?}");
    }
    // A comment is an answer to the agent, so the session is continued, also after a failure.
    let mut table = Table::new();
    table.step(Event::SessionOpened { launch: 1, session: session.clone() }).unwrap();
    table.end(Outcome::VerdictFail { why: "no".into() });
    let effects = table.step(Event::Retried { by: "ann".into(), comment: "so".into(), how: None }).unwrap();
    assert_eq!(starts(&effects), Some((2, Some(session))));
}

#[test]
fn failed_attempts_count_and_others_do_not() {
    let mut table = Table::new();
    for outcome in [
        Outcome::Auth { why: "no".into() },
        Outcome::NeedsHuman { question: "?".into() },
        Outcome::Blocked { why: "no".into() },
    ] {
        table.end(outcome);
        assert_eq!(table.run.stages[0].visit.spent, 0);
        table.step(Event::Retried { by: "ann".into(), comment: String::new(), how: None }).unwrap();
    }
    for spent in 1..=2 {
        let effects = table.end(Outcome::Failed { why: "exit status 1".into() });
        assert_eq!(table.run.stages[0].visit.spent, spent);
        assert!(starts(&effects).is_some(), "the next attempt follows at once");
    }
    let effects = table.end(Outcome::Failed { why: "exit status 1".into() });
    assert!(starts(&effects).is_none());
    assert_eq!(table.run.phase.reason(), Some(Reason::Failed));
    table.step(Event::Resumed { by: "ann".into(), how: None }).unwrap();
    assert_eq!(table.run.stages[0].visit.spent, 0, "attempts from 1");
}

#[test]
fn retries_after_an_overload_wait_2_10_and_30_seconds() {
    let mut table = Table::new();
    for seconds in [2, 10] {
        let effects = table.end(Outcome::Transient { why: "overloaded".into() });
        let until = table.at + Duration::seconds(seconds);
        assert_eq!(rests(&table), Some(until), "{effects:?}");
        table.at = until;
        assert!(starts(&table.step(Event::WaitEnded { stage: 0 }).unwrap()).is_some());
    }
    table.end(Outcome::Transient { why: "overloaded".into() });
    assert_eq!(table.run.phase.reason(), Some(Reason::Failed), "a transient failure spends an attempt");
}

#[test]
fn a_limit_delays_the_run_and_spends_no_attempt() {
    let mut table = Table::new();
    let reset = table.at + Duration::hours(3);
    let effects = table.end(Outcome::Limited { why: "quota".into(), until: Some(reset) });
    assert_eq!(rests(&table), Some(reset), "{effects:?}");
    assert_eq!((table.run.phase.word(), table.run.stages[0].visit.spent), ("running", 0));
    assert!(matches!(&table.run.stages[0].step, Step::Delayed { limited: true, .. }));
    // A time that is unknown or in the past counts as 15 minutes from now.
    table.step(Event::WaitEnded { stage: 0 }).unwrap();
    for until in [None, Some(table.at - Duration::hours(1))] {
        let effects = table.end(Outcome::Limited { why: "quota".into(), until });
        let until = table.at + Duration::minutes(15);
        assert_eq!(rests(&table), Some(until), "{effects:?}");
        table.step(Event::WaitEnded { stage: 0 }).unwrap();
    }
    // A pause during a limit takes effect at once. A resume before the time waits again.
    table.end(Outcome::Limited { why: "quota".into(), until: Some(reset) });
    table.step(Event::PauseRequested { by: "ann".into() }).unwrap();
    assert_eq!(table.run.phase.reason(), Some(Reason::User));
    let effects = table.step(Event::Resumed { by: "ann".into(), how: None }).unwrap();
    assert_eq!(rests(&table), Some(reset));
    assert!(starts(&effects).is_none());
}

#[test]
fn leading_and_adjacent_gates_have_nothing_to_rework() {
    let text = STAGES.replace("- {agent: a}", "- {gate: human-approval}");
    let mut table = Table::new();
    table.run = begun(plan(&text));
    table.decide();
    let decide = |stage: usize, decision: Decision| decides(stage, 1, decision);
    assert_eq!(table.step(decide(0, Decision::Changes)), Err(Refusal::NothingToRework));
    // The second gate cannot be approved before it is open.
    assert!(matches!(table.step(decide(1, Decision::Approve)), Err(Refusal::StaleGate { .. })));
    table.step(decide(0, Decision::Approve)).unwrap();
    assert_eq!(
        table.step(decide(1, Decision::Approve)),
        Err(Refusal::NoGate),
        "its condition is not decided yet"
    );
    table.decide();
    assert_eq!(
        table.step(decide(0, Decision::Approve)).unwrap_err().to_string(),
        "the decision is for gate 1.1, but gate 2.1 is open"
    );
    table.step(decide(1, Decision::Approve)).unwrap();
    assert!(starts(&table.decide()).is_some());
}

#[test]
fn a_stage_is_manual_once_its_manual_launch_has_started() {
    let mut table = Table::new();
    let (launch, harness) = (table.run.launches, Harness::Manual);
    assert!(!table.run.stages[0].is_manual());
    table.step(Event::AgentStarted { launch, harness, process: None }).unwrap();
    assert!(table.run.stages[0].is_manual());
    table.end(Outcome::Blocked { why: "no".into() });
    table.step(Event::Retried { by: "ann".into(), comment: String::new(), how: None }).unwrap();
    assert!(!table.run.stages[0].is_manual(), "its harness may be another one by now");
    let skip = table.step(Event::Skipped { by: "ann".into(), how: None });
    assert!(matches!(skip, Err(Refusal::NotNow { .. })), "{skip:?}");
}

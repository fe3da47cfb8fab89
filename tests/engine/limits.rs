//! Limits, pauses and clocks through the driver, with a clock that the test moves.

use crate::stage::{Stage, noon, over, until};
use chrono::{Duration, Utc};
use serde_json::{Value, json};
use std::sync::mpsc::channel;
use superpower::check::Context;
use superpower::driver::Message;
use superpower::driver::handle::Handle;
use superpower::harness::{Progress, Question, Signal, Step};
use superpower::outcome::Outcome;
use superpower::plan::Inputs;
use superpower::run::event::{Decision, Event};

const TWO: &str = "  - {agent: a, description: A}\n  - {agent: b, description: B}\n";

fn limited(hours: i64) -> Outcome {
    Outcome::Limited { why: "quota".into(), until: Some(noon() + Duration::hours(hours)) }
}

fn verb(handle: &Handle, event: Event) -> bool {
    let (reply, answer) = channel();
    assert!(handle.send(Message::Verb(event, reply)));
    matches!(answer.recv_timeout(std::time::Duration::from_secs(5)), Ok(Some(Ok(()))))
}

fn at_limit(picture: &Value) -> bool {
    picture["stages"][0]["mark"] == "limited"
}

#[test]
fn a_limited_run_continues_when_the_limit_is_over() {
    let stage = Stage::ending(vec![limited(2), Outcome::Limited { why: "quota".into(), until: None }]);
    let handle = stage.start(TWO);
    let picture = until(&handle, "the limit", at_limit);
    assert_eq!(picture["state"], "running", "the lock is held, and nobody has to do anything");
    assert_eq!(picture["waiting_until"], json!((noon() + Duration::hours(2)).timestamp_millis()));
    stage.passes(Duration::minutes(119));
    std::thread::sleep(std::time::Duration::from_millis(1200));
    assert_eq!(stage.launches(&handle.run_id), 1, "not before its time");
    stage.passes(Duration::minutes(2));
    let first = picture["waiting_until"].clone();
    until(&handle, "the second limit", |picture| at_limit(picture) && picture["waiting_until"] != first);
    assert_eq!(stage.launches(&handle.run_id), 2);
    // An unknown time means 15 minutes.
    stage.passes(Duration::minutes(14));
    std::thread::sleep(std::time::Duration::from_millis(1200));
    assert_eq!(stage.launches(&handle.run_id), 2);
    stage.passes(Duration::minutes(2));
    let picture = over(&handle);
    assert_eq!(picture["state"], "complete");
    assert_eq!(picture["stages"][0]["attempt"], 1, "a limit spends no attempt");
    let clock =
        |time: chrono::DateTime<Utc>| superpower::zone::current().local(time).format("%H:%M").to_string();
    let until = clock(noon() + Duration::hours(2));
    let line = format!("LIMITED  stage 1/2: until {until}");
    assert!(stage.log().contains(&line), "{:?}", stage.log());
    let told = superpower::runs::open::log(&stage.root(), &handle.run_id, &stage.host.keys).unwrap();
    assert!(told.contains(&line), "told anew from the journal: {told:?}");
}

/// A manual resume and the timer that is still running do not start the stage twice.
#[test]
fn pause_during_a_limit_is_immediate_and_resume_waits_once_more() {
    let stage = Stage::ending(vec![limited(2)]);
    let handle = stage.start(TWO);
    until(&handle, "the limit", at_limit);
    assert!(verb(&handle, Event::PauseRequested { by: "ann".into() }));
    let picture = over(&handle);
    assert_eq!((&picture["state"], &picture["reason"]), (&json!("paused"), &json!("user")));
    let handle = stage.resume(&handle.run_id);
    until(&handle, "the limit again", at_limit);
    assert_eq!(stage.launches(&handle.run_id), 1);
    stage.passes(Duration::hours(3));
    assert_eq!(over(&handle)["state"], "complete");
    assert_eq!(stage.launches(&handle.run_id), 3, "once limited, once again, and the second stage");
    // A resume after that time continues at once.
    let stage = Stage::ending(vec![limited(2)]);
    let handle = stage.start(TWO);
    until(&handle, "the limit", at_limit);
    assert!(handle.send(Message::Leave(std::time::Duration::from_millis(100))));
    assert_eq!(over(&handle)["reason"], "interrupted");
    stage.passes(Duration::hours(3));
    assert_eq!(over(&stage.resume(&handle.run_id))["state"], "complete");
}

#[test]
fn a_lost_connection_is_retried_after_a_delay_and_shown() {
    let stage = Stage::ending(vec![Outcome::Transient { why: "overloaded".into() }]);
    let handle = stage.start(TWO);
    let picture = until(&handle, "the pause", at_limit);
    let stage_0 = &picture["stages"][0];
    assert_eq!((&stage_0["note"], &stage_0["again_at"]), (&json!("overloaded"), &picture["waiting_until"]));
    stage.passes(Duration::seconds(3));
    assert_eq!(over(&handle)["state"], "complete");
    assert!(stage.log().contains(&"RETRY  stage 1/2: attempt 2/3: overloaded".into()));
}

#[test]
fn cancel_while_limited_ends_the_run() {
    let stage = Stage::ending(vec![limited(2)]);
    let handle = stage.start(TWO);
    until(&handle, "the limit", at_limit);
    assert!(verb(&handle, Event::Cancelled { by: "ann".into(), how: None }));
    assert_eq!(over(&handle)["state"], "cancelled");
    stage.passes(Duration::hours(9));
    assert_eq!(stage.launches(&handle.run_id), 1);
}

/// The time at a gate does not count as working time of the stage or the run.
#[test]
fn clocks_stop_at_a_gate() {
    let stage = Stage::ending(vec![]);
    let handle = stage.start("  - {agent: a, gate: human-approval}\n  - {agent: b}\n");
    assert_eq!(over(&handle)["reason"], "gate");
    stage.passes(Duration::days(3));
    let decided = Event::GateDecided {
        stage: 0,
        visit: 1,
        decision: Decision::Approve,
        comment: String::new(),
        by: "ann".into(),
        digest: None,
        review: None,
        since: Vec::new(),
        how: None,
    };
    let picture = over(&stage.take_up(&handle.run_id, vec![decided]).unwrap());
    assert_eq!(picture["state"], "complete");
    assert_eq!(picture["active_ms"], 0, "three days at the gate are nobody's work");
    assert_eq!(picture["stages"][0]["elapsed_ms"], 0);
    assert!(picture["summary"].as_str().unwrap().contains("complete in 0s"), "{picture:#}");
}

/// A permission request without an answer is denied.
#[test]
fn an_unanswered_permission_is_denied_by_default() {
    let question = || Question {
        id: "q".into(),
        tool: "Bash".into(),
        input: json!({}),
        title: "Bash: rm".into(),
        rule: None,
    };
    let stage = Stage::with(
        move |_| vec![Step::Ask(question()), Step::End(Outcome::Passed, "did it".into())],
        |config| config.permission_timeout = std::time::Duration::from_millis(50),
    );
    let handle = stage.start(TWO);
    let picture = over(&handle);
    assert_eq!(picture["reason"], "needs-human", "{picture:#}");
    let told = stage.told.lock().unwrap();
    assert!(told.iter().any(|event| event["type"] == "permission-gone"));
    drop(told);
    assert_eq!(superpower::config::Config::default().trust, superpower::config::Trust::Ask);
}

/// After a pause was requested while the run waited for a fact, nothing is started.
#[test]
fn a_pause_while_a_condition_is_decided_starts_nothing() {
    let stage = Stage::ending(vec![]);
    let facts = Context { facts: vec!["story.has_api".into()], ..Default::default() };
    let text = "name: play\ndescription: d\nversion: '1'\nstages:\n  - {agent: a, when: story.has_api}\n";
    let handle = stage.start_text(text, &facts, &Inputs::new());
    until(&handle, "the question", |_| {
        stage.told.lock().unwrap().iter().any(|event| event["type"] == "ask-fact")
    });
    let id =
        stage.told.lock().unwrap().iter().find(|event| event["type"] == "ask-fact").unwrap()["id"].clone();
    assert!(verb(&handle, Event::PauseRequested { by: "ann".into() }));
    handle.send(Message::Answer(id.as_str().unwrap().into(), Ok(json!({ "value": true }))));
    let picture = over(&handle);
    assert_eq!((&picture["state"], &picture["reason"]), (&json!("paused"), &json!("user")), "{picture:#}");
    assert_eq!(stage.launches(&handle.run_id), 0);
}

#[test]
fn a_harness_that_panics_fails_the_attempt_and_not_the_run() {
    let stage = Stage::new(|launch| match launch.launch {
        1 => vec![Step::Tell(Signal::Progress(Progress::Text { text: "x".into() })), Step::Panic],
        _ => vec![],
    });
    let handle = stage.start(TWO);
    assert_eq!(over(&handle)["state"], "complete");
    assert!(
        stage.log().iter().any(|line| line.starts_with("RETRY  stage 1/2: attempt 2/3")),
        "{:?}",
        stage.log()
    );
}

#[test]
fn files_are_up_to_date_when_a_stop_is_announced() {
    let asks = || Outcome::NeedsHuman { question: "which?".into() };
    let gate = "  - {agent: a, description: A, gate: human-approval}\n";
    for (outcomes, stages, state) in
        [(vec![asks()], TWO, "paused"), (vec![], gate, "paused"), (vec![], TWO, "complete")]
    {
        let stage = Stage::ending(outcomes);
        over(&stage.start(stages));
        let states = stage.states.lock().unwrap();
        let stopped: Vec<_> = states.iter().filter(|states| states[0] != "running").collect();
        assert!(stopped.iter().any(|states| states[0] == state), "{states:?}");
        let same = |states: &[Value; 3]| states[0] == states[1] && states[1] == states[2];
        assert!(stopped.iter().all(|states| same(states)), "{states:?}");
    }
}

/// A time of a harness that is months away counts as unknown. A time that is not today is shown with its date.
#[test]
fn a_long_limit_is_capped_and_shown_with_its_date() {
    let shown = |outcome: Outcome| {
        let stage = Stage::ending(vec![outcome]);
        let handle = stage.start(TWO);
        let picture = until(&handle, "the limit", at_limit);
        assert!(handle.send(Message::Leave(std::time::Duration::from_millis(100))));
        over(&handle);
        let log = stage.log();
        (
            picture["waiting_until"].as_i64().unwrap(),
            log.iter().find(|line| line.starts_with("LIMITED")).cloned().unwrap(),
        )
    };
    for far in [noon() + Duration::days(33), chrono::DateTime::<Utc>::MAX_UTC] {
        let (at, _) = shown(Outcome::Limited { why: "quota".into(), until: Some(far) });
        assert_eq!(at, (noon() + Duration::minutes(15)).timestamp_millis());
    }
    let day = noon() + Duration::days(3);
    let (at, line) = shown(Outcome::Limited { why: "quota".into(), until: Some(day) });
    assert_eq!(at, day.timestamp_millis());
    let date = superpower::zone::current().local(day).format("%Y-%m-%d %H:%M").to_string();
    assert!(line.ends_with(&format!("until {date}")), "{line}");
}

//! Applies the outcome of an attempt to the run.

use super::effect::{Effect, Notice};
use super::failure::Failure;
use super::log::place;
use super::refusal::Refusal;
use super::state::{Done, Phase, Reason, Run, Step, Stop};
use super::walk::{advance, done, launch, open_gate, pause};
use crate::outcome::{Outcome, Usage};
use chrono::{DateTime, Duration, Utc};

/// Delays between attempts after an overload or a lost connection, in seconds.
const TRANSIENT_PAUSES: [i64; 3] = [2, 10, 30];
/// Longest wait for a limit, in days. A later time is treated as unknown.
const LONGEST_LIMIT: i64 = 32;
/// Wait for a limit of unknown length, in minutes.
const UNKNOWN_LIMIT: i64 = 15;

/// The parts of `AttemptEnded`.
pub(super) struct Ended<'a> {
    pub launch: u32,
    pub outcome: &'a Outcome,
    pub message: &'a str,
    pub tail: &'a str,
    pub usage: &'a Usage,
}

pub(super) fn ended(
    run: &mut Run,
    at: DateTime<Utc>,
    end: Ended,
    out: &mut Vec<Effect>,
) -> Result<(), Refusal> {
    let Some(stage) = run.current().filter(|_| run.phase == Phase::Running) else {
        return Err(Refusal::Stale);
    };
    let Step::Working { launch: current, since } = run.stages[stage].step else { return Err(Refusal::Stale) };
    if current != end.launch {
        return Err(Refusal::Stale);
    }
    let state = &mut run.stages[stage];
    state.visit.worked(since, at);
    state.visit.stopped = None;
    if let Some(launch) = &mut state.launch {
        launch.process = None;
    }
    state.usage.add(end.usage);
    let said = |why: &str| Failure { why: why.to_owned(), tail: end.tail.to_owned(), exited: false };
    match end.outcome {
        Outcome::Passed => {
            state.result = Some(end.message.to_owned());
            state.comments.clear();
            if run.plan.has_human_gate(stage) {
                open_gate(run, stage, at, out);
            } else {
                done(run, stage, Done::Passed, at, out);
                advance(run, at, out);
            }
        }
        Outcome::Failed { why } => failed(run, stage, said(why), Next::AtOnce, at, out),
        Outcome::Exited { why } => {
            failed(run, stage, Failure { exited: true, ..said(why) }, Next::AtOnce, at, out)
        }
        Outcome::Transient { why } => {
            let pause = TRANSIENT_PAUSES[(state.visit.spent as usize).min(TRANSIENT_PAUSES.len() - 1)];
            failed(run, stage, said(why), Next::At(at + Duration::seconds(pause)), at, out);
        }
        Outcome::FailedForGood { why } | Outcome::VerdictFail { why } => {
            failed(run, stage, said(why), Next::Never, at, out)
        }
        Outcome::Limited { why, until } => {
            // A harness may report a time that has passed or is months away; both count as unknown.
            let near = |until: &DateTime<Utc>| *until > at && *until - at <= Duration::days(LONGEST_LIMIT);
            let until = until.filter(near).unwrap_or(at + Duration::minutes(UNKNOWN_LIMIT));
            state.step = Step::Delayed { until, limited: true, why: why.clone() };
            state.visit.stopped = Some(Stop::Limited { why: why.clone() });
            let line = format!("LIMITED  stage {}: until", place(run, stage));
            out.push(Effect::LogUntil { line, until });
            if run.pausing {
                pause(run, Reason::User, String::new(), at, out);
            }
        }
        Outcome::Blocked { why } => hold(run, stage, Reason::Blocked, "BLOCKED", why, at, out),
        Outcome::Auth { why } => hold(run, stage, Reason::Auth, "AUTH", why, at, out),
        Outcome::NeedsHuman { question } => hold(run, stage, Reason::NeedsHuman, "ASKED", question, at, out),
    }
    Ok(())
}

/// When to retry a stage that has attempts left.
enum Next {
    AtOnce,
    At(DateTime<Utc>),
    Never,
}

/// Handles a failure that counts as an attempt: retries the stage, or pauses the run.
fn failed(
    run: &mut Run,
    stage: usize,
    failure: Failure,
    next: Next,
    at: DateTime<Utc>,
    out: &mut Vec<Effect>,
) {
    let max = run.plan.max_attempts(stage);
    let visit = &mut run.stages[stage].visit;
    visit.spent += 1;
    let why = failure.why.clone();
    visit.failures.push(failure);
    let spent = visit.spent;
    let line = crate::plan::one_line(&why);
    if spent >= max || matches!(next, Next::Never) {
        let label = run.label(stage);
        let place = place(run, stage);
        run.stages[stage].step = Step::Held { why: why.clone() };
        out.push(Effect::Log(format!("FAILED  stage {place}: {label}: attempt {spent}/{max}: {line}")));
        let note = why.clone();
        out.push(Effect::Notify(Notice::StageFinished { stage: stage + 1, label, outcome: "failed", note }));
        return pause(run, Reason::Failed, why, at, out);
    }
    out.push(Effect::Log(format!("RETRY  stage {}: attempt {}/{max}: {line}", place(run, stage), spent + 1)));
    match next {
        Next::At(until) if !run.pausing => {
            run.stages[stage].step = Step::Delayed { until, limited: false, why };
        }
        _ if run.pausing => {
            run.stages[stage].step = Step::Ready { resume: matches!(next, Next::At(_)) };
            pause(run, Reason::User, String::new(), at, out);
        }
        _ => launch(run, stage, false, at, out),
    }
}

/// Pauses the run at once, without spending an attempt.
fn hold(
    run: &mut Run,
    stage: usize,
    reason: Reason,
    word: &str,
    why: &str,
    at: DateTime<Utc>,
    out: &mut Vec<Effect>,
) {
    let state = &mut run.stages[stage];
    state.step = Step::Held { why: why.to_owned() };
    state.visit.stopped = Some(Stop::Held { reason, why: why.to_owned(), answered: false, cut_off: false });
    let line = crate::plan::one_line(why);
    out.push(Effect::Log(format!("{word}  stage {}: {line}", place(run, stage))));
    pause(run, reason, why.to_owned(), at, out);
}

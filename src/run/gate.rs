//! Gates: opened, announced again, decided once.

use super::effect::{Effect, Notice};
use super::event::{Decision, Event, Record};
use super::how::{self, How};
use super::log::{self, place};
use super::refusal::Refusal;
use super::shown::Baseline;
use super::state::{Done, GateRecord, Phase, Reason, Run, Step, gate_id};
use super::walk::{advance, done, finish, gate_log_line, open_gate, settle, unpause};
use chrono::{DateTime, Utc};

/// Shows an open gate again, without a decision.
pub(super) fn announce(run: &Run, stage: usize, visit: u32, out: &mut Vec<Effect>) {
    let label = run.label(stage);
    out.push(gate_log_line(run, stage, &label));
    out.push(Effect::OpenGate { stage, visit });
    out.push(Effect::Log(log::paused(run, Reason::Gate)));
    out.push(Effect::Notify(Notice::GateOpened { stage: stage + 1, gate: gate_id(stage, visit), label }));
}

/// Withdraws the newest approval if nothing has started since: the gate asks again, under a new visit number.
pub(super) fn reopen(
    run: &mut Run,
    stage: usize,
    at: DateTime<Utc>,
    out: &mut Vec<Effect>,
) -> Result<(), Refusal> {
    let fits = run.unused_approval().is_some_and(|it| it.stage == stage);
    if !fits || run.phase.reason().is_none_or(|reason| reason == Reason::Gate) {
        return Err(Refusal::NoGate);
    }
    for rank in run.plan.rank(stage)..=run.cursor.min(run.plan.total() - 1) {
        run.stages[run.plan.order[rank]].step = Step::Waiting;
    }
    run.cursor = run.plan.rank(stage);
    run.stages[stage].visit.reopened(at);
    open_gate(run, stage, at, out);
    Ok(())
}

/// Checks a decision against the open gate, then applies it.
pub(super) fn decided(run: &mut Run, record: &Record, out: &mut Vec<Effect>) -> Result<(), Refusal> {
    let Event::GateDecided { stage, visit, decision, comment, by, digest, review, since, how } =
        &record.event
    else {
        return Err(Refusal::Stale);
    };
    let at = record.at;
    let Some((open, open_visit)) = run.open_gate() else { return Err(Refusal::NoGate) };
    if (open, open_visit) != (*stage, *visit) {
        return Err(Refusal::StaleGate { given: gate_id(*stage, *visit), open: gate_id(open, open_visit) });
    }
    let target = match decision {
        Decision::Changes if comment.trim().is_empty() => return Err(Refusal::CommentMissing),
        Decision::Changes => Some(rework_target(run, open).ok_or(Refusal::NothingToRework)?),
        Decision::Approve | Decision::Reject => None,
    };
    run.decisions.push(GateRecord {
        stage: open,
        visit: open_visit,
        decision: *decision,
        comment: comment.clone(),
        by: by.clone(),
        how: how.clone(),
        at,
        digest: digest.clone(),
        review: review.clone(),
        launches: run.launches,
    });
    let word = match decision {
        Decision::Approve => "APPROVED",
        Decision::Changes => "CHANGES",
        Decision::Reject => "REJECTED",
    };
    let shown = review.as_ref().and_then(|digest| {
        run.shown_at(open, open_visit).iter().rfind(|shown| shown.digest.as_ref() == Some(digest))
    });
    let unlisted = shown.is_some_and(|shown| shown.tree.is_none());
    let tree = shown.and_then(|shown| shown.tree.clone());
    let aside = match decision {
        Decision::Approve if unlisted => "  (without a list of changed files)".to_owned(),
        Decision::Approve if !since.is_empty() => {
            format!("  (changed after it was shown: {})", since.join(", "))
        }
        _ => String::new(),
    };
    let line = log::with_comment(format!("{word}  stage {}{aside}", place(run, open)), comment);
    let how_words = how.as_ref().map(How::to_string).unwrap_or_default();
    out.push(Effect::Log(how::line(line, how.as_ref())));
    out.push(Effect::Notify(Notice::GateDecided {
        stage: open + 1,
        gate: gate_id(open, open_visit),
        decision: *decision,
        comment: comment.clone(),
        by: by.clone(),
        how: how_words,
    }));
    match target {
        Some(target) => rework(run, target, open, comment, at, out),
        None if *decision == Decision::Reject => {
            settle(run, at);
            run.phase = Phase::Rejected { by: by.clone(), comment: comment.clone(), at };
            finish(run, "rejected", out);
        }
        None => {
            if !run.plan.has_action(open) {
                run.stages[open].result = Some(comment.clone());
            }
            unpause(run, at);
            compare_next_with(run, tree, out);
            done(run, open, Done::Approved, at, out);
            run.cursor += 1;
            resumed(run, out);
            advance(run, at, out);
        }
    }
    Ok(())
}

/// What the next gate compares with: the files as they were shown. What was not listed stands in the next list, so
/// where there was no list it compares with what this one would have.
fn compare_next_with(run: &mut Run, shown: Option<String>, out: &mut Vec<Effect>) {
    let decisions = run.decisions.len();
    match (shown, &mut run.baseline) {
        (Some(tree), _) => run.baseline = Some(Baseline { tree, decisions }),
        (None, Some(baseline)) => baseline.decisions = decisions,
        (None, None) => out.push(Effect::TakeBaseline),
    }
}

/// Where "request changes" goes: `rework`, else the stage's own action, else the nearest earlier stage whose action
/// ran.
fn rework_target(run: &Run, gate: usize) -> Option<usize> {
    let named = run.plan.stage(gate).rework.as_ref().and_then(|rework| run.plan.find(&rework.value));
    if let Some(named) = named.filter(|&stage| run.plan.rank(stage) <= run.plan.rank(gate)) {
        return Some(named);
    }
    if run.plan.has_action(gate) {
        return Some(gate);
    }
    run.action_before(gate)
}

/// Rewinds to `target`. Stages that ran, and the gate itself, keep the verdict "run"; skipped stages are decided
/// again, and facts first asked for after the target are forgotten.
fn rework(
    run: &mut Run,
    target: usize,
    gate: usize,
    comment: &str,
    at: DateTime<Utc>,
    out: &mut Vec<Effect>,
) {
    let from = run.plan.rank(target);
    for rank in from..=run.plan.rank(gate) {
        let stage = run.plan.order[rank];
        let state = &mut run.stages[stage];
        state.pinned = !matches!(state.step, Step::Done(Done::Skipped { .. }));
        state.step = Step::Waiting;
        state.comments.clear();
    }
    let plan = run.plan.clone();
    run.facts.retain(|_, fact| plan.rank(fact.stage) <= from);
    run.rework_comment = Some(comment.to_owned());
    run.cursor = from;
    unpause(run, at);
    resumed(run, out);
    advance(run, at, out);
}

fn resumed(run: &Run, out: &mut Vec<Effect>) {
    if let Some(stage) = run.current() {
        out.push(Effect::Log(format!("RESUMED  {}  stage {}", run.plan.name(), place(run, stage))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check;
    use crate::outcome::{Outcome, Usage};
    use crate::plan::{Inputs, Plan};
    use crate::run::machine;
    use std::sync::Arc;

    #[test]
    fn a_rework_over_ten_thousand_automatic_stages_does_not_recurse() {
        let stages = "  - {gate: auto}\n".repeat(9_998);
        let text = format!(
            "name: p\ndescription: d\nversion: '1'\nstages:\n  - {{agent: a}}\n{stages}  - {{gate: human-approval, rework: '2'}}\n"
        );
        let checked = check::check(&text, &check::Context::default());
        let plan = Arc::new(Plan::new(checked.declaration.unwrap(), &Inputs::new()).unwrap());
        let started = Event::RunStarted {
            run_id: "r".into(),
            superpower: "p".into(),
            version: "1".into(),
            declaration: "d".into(),
            digest: None,
            inputs: Inputs::new(),
            harness: None,
            by: "ann".into(),
            adopted: None,
            hidden: Default::default(),
        };
        let at = DateTime::UNIX_EPOCH;
        let (mut run, _) = machine::start(plan, &Record { at, event: started });
        let step = |run: &mut Run, event| machine::step(run, &Record { at, event }).unwrap();
        let decided = |stage| Event::StageDecided { stage, run: true, why: String::new() };
        step(&mut run, decided(0));
        let (message, tail, usage) = ("done".to_owned(), String::new(), Usage::default());
        step(&mut run, Event::AttemptEnded { launch: 1, outcome: Outcome::Passed, message, tail, usage });
        (1..10_000).for_each(|stage| drop(step(&mut run, decided(stage))));
        let (decision, comment, by) = (Decision::Changes, "again".to_owned(), "ann".to_owned());
        let (digest, review, since, how) = (None, None, Vec::new(), None);
        let (stage, visit) = (9_999, 1);
        step(
            &mut run,
            Event::GateDecided { stage, visit, decision, comment, by, digest, review, since, how },
        );
        assert_eq!(run.open_gate(), Some((9_999, 2)));
    }
}

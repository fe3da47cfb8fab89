//! Invariants of every run, tested with random events in random order.

use crate::machine_dsl::{self, beginning, time};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use superpower::outcome::{Harness, Outcome, Usage};
use superpower::plan::Plan;
use superpower::run::decide::{Verdict, decide};
use superpower::run::effect::Effect;
use superpower::run::event::{Decision, Event, Record};
use superpower::run::machine::{self, Refusal};
use superpower::run::state::{Done, Phase, Reason, Run, Step};

/// One stage of a generated declaration.
#[derive(Clone, Debug)]
struct Shape {
    acts: bool,
    asks: bool,
    when: Option<&'static str>,
    rework: Option<usize>,
    max_attempts: u32,
}

fn shapes() -> impl Strategy<Value = Vec<Shape>> {
    let when = prop_oneof![
        3 => Just(None),
        1 => Just(Some("story.ui_true")),
        1 => Just(Some("identity.tokens_missing || branch.not_spike")),
        1 => Just(Some("never")),
    ];
    let stage = (any::<bool>(), any::<bool>(), when, proptest::option::of(0..6usize), 1..4u32);
    proptest::collection::vec(stage, 1..7).prop_map(|stages| {
        let shape = |(index, (acts, asks, when, rework, max_attempts)): (
            usize,
            (bool, bool, _, Option<usize>, u32),
        )| {
            let acts = acts || !asks;
            let rework = rework.filter(|&target| asks && target < index);
            Shape { acts, asks, when, rework, max_attempts }
        };
        stages.into_iter().enumerate().map(shape).collect()
    })
}

fn plan(shapes: &[Shape]) -> Arc<Plan> {
    let mut text = "stages:\n".to_owned();
    for (index, shape) in shapes.iter().enumerate() {
        text += &format!("  - name: s{}\n", index + 1);
        if shape.acts {
            text += &format!("    agent: a{}\n    max_attempts: {}\n", index + 1, shape.max_attempts);
        }
        if shape.asks {
            text += "    gate: human-approval\n";
        }
        if let Some(when) = shape.when {
            text += &format!("    when: {when}\n");
        }
        if let Some(rework) = shape.rework {
            text += &format!("    rework: s{}\n", rework + 1);
        }
    }
    machine_dsl::plan(&text)
}

/// A random event. Stages and launches are taken modulo their number, so that almost valid events are common.
#[derive(Clone, Debug)]
enum Throw {
    Decide(bool),
    End(u8, u8),
    Started(u8, bool),
    Gate(u8, u8, u8),
    WaitEnded(u8),
    Pause,
    Interrupt,
    Cancel,
    Resume,
    Retry,
    Skip,
    Fact(u8, bool),
    Verdict(u8, bool),
}

fn throws() -> impl Strategy<Value = Vec<Throw>> {
    let one = prop_oneof![
        8 => any::<bool>().prop_map(Throw::Decide),
        8 => (0..9u8, 0..3u8).prop_map(|(how, launch)| Throw::End(how, launch)),
        2 => (0..3u8, any::<bool>()).prop_map(|(launch, by_hand)| Throw::Started(launch, by_hand)),
        5 => (0..3u8, 0..4u8, 0..3u8).prop_map(|(how, stage, visit)| Throw::Gate(how, stage, visit)),
        2 => any::<u8>().prop_map(Throw::WaitEnded),
        1 => Just(Throw::Pause),
        1 => Just(Throw::Interrupt),
        1 => (0..30u8).prop_map(|n| if n == 0 { Throw::Cancel } else { Throw::Resume }),
        3 => Just(Throw::Resume),
        2 => Just(Throw::Retry),
        2 => Just(Throw::Skip),
        1 => (0..3u8, any::<bool>()).prop_map(|(fact, value)| Throw::Fact(fact, value)),
        1 => (any::<u8>(), any::<bool>()).prop_map(|(stage, run)| Throw::Verdict(stage, run)),
    ];
    proptest::collection::vec(one, 0..60)
}

const FACTS: [&str; 3] = ["story.ui_true", "identity.tokens_missing", "branch.not_spike"];

fn outcome(how: u8) -> Outcome {
    match how {
        0..=2 => Outcome::Passed,
        3 => Outcome::Failed { why: "exit status 1".into() },
        4 => Outcome::Transient { why: "overloaded".into() },
        5 => Outcome::Limited { why: "quota".into(), until: None },
        6 => Outcome::VerdictFail { why: "no".into() },
        7 => Outcome::Blocked { why: "no".into() },
        _ => Outcome::NeedsHuman { question: "which?".into() },
    }
}

/// Checks the invariants over the whole history.
#[derive(Default)]
struct Witness {
    started: BTreeMap<u32, usize>,
    ended: BTreeSet<u32>,
    stopped: BTreeSet<u32>,
    decided: BTreeSet<(usize, u32)>,
}

impl Witness {
    /// Launches that are active and that the run's state does not name.
    fn cut_off(&self, run: &Run) -> Vec<u32> {
        let named = run.current().filter(|_| run.phase == Phase::Running).and_then(|stage| {
            match run.stages[stage].step {
                Step::Working { launch, .. } => Some(launch),
                _ => None,
            }
        });
        let over = |launch: &u32| self.ended.contains(launch) || self.stopped.contains(launch);
        self.started.keys().copied().filter(|launch| !over(launch) && Some(*launch) != named).collect()
    }

    fn see(
        &mut self,
        run: &Run,
        before: &Phase,
        record: &Record,
        effects: &[Effect],
    ) -> Result<(), TestCaseError> {
        match &record.event {
            Event::AttemptEnded { launch, .. } => {
                prop_assert!(self.ended.insert(*launch), "launch {launch} ended twice");
                prop_assert!(!self.stopped.contains(launch), "launch {launch} ended after it was stopped");
            }
            Event::GateDecided { stage, visit, .. } => {
                prop_assert!(self.decided.insert((*stage, *visit)), "gate {stage}.{visit} was decided twice");
                prop_assert_eq!(before, &Phase::Paused { reason: Reason::Gate, detail: String::new() });
            }
            Event::Skipped { .. } if *before == Phase::Running => {
                let skipped = self.cut_off(run).first().and_then(|launch| self.started.get(launch)).copied();
                let harness =
                    skipped.as_ref().and_then(|stage| run.stages[*stage].launch.as_ref()?.harness.clone());
                prop_assert_eq!(
                    harness,
                    Some(Harness::Manual),
                    "only what a human carries out is skipped while it is"
                );
            }
            _ => {}
        }
        prop_assert!(!before.ended(), "something followed the end: {:?}", record.event);
        // Launches that the state does not name are stopped.
        self.stopped.extend(self.cut_off(run));
        for effect in effects {
            if let Effect::StartAgent { stage, launch, .. } = effect {
                prop_assert!(self.started.insert(*launch, *stage).is_none(), "launch {launch} twice");
                let rank = run.plan.rank(*stage);
                for &earlier in &run.plan.order[..rank] {
                    let done = matches!(run.stages[earlier].step, Step::Done(_));
                    prop_assert!(done, "stage {stage} started before {earlier} was done");
                    let approved = !run.plan.has_human_gate(earlier)
                        || !matches!(run.stages[earlier].step, Step::Done(Done::Passed));
                    prop_assert!(approved, "stage {stage} started past the gate at {earlier}");
                }
                let working = |launch: &u32| !self.ended.contains(launch) && !self.stopped.contains(launch);
                prop_assert_eq!(self.started.keys().filter(|launch| working(launch)).count(), 1);
            }
        }
        let pausing = effects.iter().any(|effect| matches!(effect, Effect::Leave));
        let waits = matches!(run.phase, Phase::Paused { .. }) || run.phase.ended();
        prop_assert!(waits || !pausing, "it left while running");
        if run.phase == Phase::Running {
            let stage = run.current();
            let alive = stage.is_some_and(|stage| {
                matches!(run.stages[stage].step, Step::Deciding | Step::Working { .. } | Step::Delayed { .. })
            });
            prop_assert!(
                alive,
                "it runs, and nothing will ever happen: {:?}",
                stage.map(|it| &run.stages[it].step)
            );
        }
        if run.phase == Phase::Complete {
            prop_assert!(run.stages.iter().all(|stage| matches!(stage.step, Step::Done(_))));
        }
        Ok(())
    }
}

fn event(run: &Run, throw: &Throw) -> Option<Event> {
    let total = u8::try_from(run.plan.total()).unwrap();
    let by = || "ann".to_owned();
    let near = |launch: u8| run.launches.saturating_sub(u32::from(launch)).max(1);
    Some(match throw {
        Throw::Decide(value) => {
            let stage = run.current()?;
            match decide(run, stage) {
                Verdict::Needs(fact) => {
                    Event::FactDecided { fact, value: *value, reason: String::new(), stage }
                }
                Verdict::Decided { run, why } => Event::StageDecided { stage, run, why },
            }
        }
        Throw::End(how, launch) => Event::AttemptEnded {
            launch: near(*launch),
            outcome: outcome(*how),
            message: "done".into(),
            tail: String::new(),
            usage: Usage::default(),
        },
        Throw::Started(launch, by_hand) => {
            let harness = if *by_hand { "manual" } else { "fake" };
            Event::AgentStarted {
                launch: near(*launch),
                harness: Harness::from(harness.to_owned()),
                process: None,
            }
        }
        Throw::Gate(how, stage, visit) => {
            let current = run.current().unwrap_or(0);
            let stage = if *stage == 3 { (current + 1) % run.plan.total() } else { current };
            let decision = [Decision::Approve, Decision::Changes, Decision::Reject][usize::from(*how)];
            // Reject rarely, because it ends the run.
            let decision =
                if decision == Decision::Reject && *visit > 0 { Decision::Approve } else { decision };
            let visit = run.stages[stage].visit.number.saturating_sub(u32::from(*visit / 2));
            Event::GateDecided {
                stage,
                visit,
                decision,
                comment: "so".into(),
                by: by(),
                digest: None,
                review: None,
                since: Vec::new(),
                how: None,
            }
        }
        Throw::WaitEnded(stage) => Event::WaitEnded { stage: usize::from(stage % total) },
        Throw::Pause => Event::PauseRequested { by: by() },
        Throw::Interrupt => Event::Interrupted { why: "left".into() },
        Throw::Cancel => Event::Cancelled { by: by(), how: None },
        Throw::Resume => Event::Resumed { by: by(), how: None },
        Throw::Retry => Event::Retried { by: by(), comment: "again".into(), how: None },
        Throw::Skip => Event::Skipped { by: by(), how: None },
        Throw::Fact(fact, value) => Event::FactDecided {
            fact: FACTS[usize::from(*fact)].into(),
            value: *value,
            reason: String::new(),
            stage: run.current().unwrap_or(0),
        },
        Throw::Verdict(stage, run) => {
            Event::StageDecided { stage: usize::from(stage % total), run: *run, why: String::new() }
        }
    })
}

fn walk(shapes: &[Shape], throws: &[Throw]) -> Result<(), TestCaseError> {
    let plan = plan(shapes);
    let first = beginning();
    let (mut run, effects) = machine::start(plan.clone(), &first);
    let mut witness = Witness::default();
    let mut journal = Vec::new();
    witness.see(&run, &Phase::Running, &first, &effects)?;
    for (n, throw) in throws.iter().enumerate() {
        let Some(event) = event(&run, throw) else { continue };
        let record = Record { at: time(n + 1), event };
        let before = format!("{run:?}");
        let phase = run.phase.clone();
        match machine::step(&mut run, &record) {
            Ok(effects) => {
                witness.see(&run, &phase, &record, &effects)?;
                journal.push(record);
            }
            Err(refusal) => {
                prop_assert_eq!(&format!("{run:?}"), &before, "refused ({}), and yet changed", refusal);
                let fits = matches!(refusal, Refusal::Ended { .. } | Refusal::Stale);
                prop_assert!(!phase.ended() || fits);
            }
        }
    }
    // Resuming is a function of the plan and the journal.
    let (mut again, _) = machine::start(plan, &first);
    for record in &journal {
        let text = serde_json::to_string(record).unwrap();
        let read: Record = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&read, record);
        prop_assert!(machine::step(&mut again, &read).is_ok());
    }
    prop_assert_eq!(format!("{again:?}"), format!("{run:?}"));
    Ok(())
}

/// A few thousand cases, or 100,000 with `SUPERPOWER_LONG=1`.
fn cases() -> u32 {
    if std::env::var_os("SUPERPOWER_LONG").is_some() { 100_000 } else { 3_000 }
}

#[test]
fn random_events_in_random_order_keep_all_invariants() {
    let config = ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(shapes in shapes(), throws in throws())| { walk(&shapes, &throws)?; });
}

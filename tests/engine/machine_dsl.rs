//! Helpers for tests of the pure machine: a plan from a text, the start of a run, a gate's decision, the time.

use chrono::{DateTime, Duration, TimeZone, Utc};
use std::sync::Arc;
use superpower::check;
use superpower::plan::{Inputs, Plan};
use superpower::run::effect::Effect;
use superpower::run::event::{Decision, Event, Record};
use superpower::run::machine;
use superpower::run::state::Run;

/// The plan of a declaration with these lines from `inputs` or `stages` on.
pub fn plan(body: &str) -> Arc<Plan> {
    let text = format!("name: p\ndescription: d\nversion: '1'\n{body}");
    let checked = check::check(&text, &check::Context::default());
    let declaration = checked.declaration.unwrap_or_else(|| panic!("{text}\n{:?}", checked.diagnostics));
    Arc::new(Plan::new(declaration, &Inputs::new()).unwrap())
}

/// The time this many seconds after the start.
pub fn time(seconds: usize) -> DateTime<Utc> {
    Utc.timestamp_opt(1_700_000_000, 0).unwrap() + Duration::seconds(i64::try_from(seconds).unwrap())
}

/// The first record of a run.
pub fn beginning() -> Record {
    let event = Event::RunStarted {
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
    Record { at: time(0), event }
}

/// A run that has started.
pub fn begun(plan: Arc<Plan>) -> Run {
    machine::start(plan, &beginning()).0
}

/// Applies an event at the start time. It must not be refused.
pub fn step(run: &mut Run, event: Event) -> Vec<Effect> {
    machine::step(run, &Record { at: time(0), event }).unwrap()
}

/// Ann's decision at a gate.
pub fn decides(stage: usize, visit: u32, decision: Decision) -> Event {
    Event::GateDecided {
        stage,
        visit,
        decision,
        comment: "so".into(),
        by: "ann".into(),
        digest: None,
        review: None,
        since: Vec::new(),
        how: None,
    }
}

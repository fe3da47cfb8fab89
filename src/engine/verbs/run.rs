//! The verbs `run` and `resume`.

use super::admission::{Purpose, admit};
use super::adoption::Takeover;
use super::answers::Answers;
use super::idle_run::{by, how, require_idle, started_reply};
use super::preflight::{before_driving, check_inputs, review_changed_files};
use super::target_run::{Eligible, TargetRun};
use super::{run_lookup, trust_question};
use crate::driver::start::{NewRun, begin, take_up};
use crate::engine::core::Engine;
use crate::engine::editing::loaded::{Loaded, require_harness};
use crate::engine::refusal::Refusal;
use crate::plan::Inputs;
use crate::run::event::Event;
use crate::run::how::Means;
use crate::runs::open::Opened;
use serde::Deserialize;
use serde_json::Value;
use std::path::PathBuf;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    root: PathBuf,
    name: String,
    #[serde(default)]
    inputs: Inputs,
    harness: Option<String>,
    by: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resume {
    root: PathBuf,
    which: Option<String>,
    run_id: Option<String>,
    /// Whether to refuse if several runs are possible.
    #[serde(default)]
    only: bool,
    /// Values for inputs that an adopted `squad.json` lacks.
    #[serde(default)]
    inputs: Inputs,
    #[serde(default)]
    answer: Answers,
    by: Option<String>,
    /// By what, as far as the editor knows.
    how: Option<Means>,
}

pub fn run(engine: &Engine, request: Run) -> Result<Value, Refusal> {
    require_idle(engine, &request.root)?;
    let loaded = Loaded::find(engine, &request.root, &request.name)?;
    let plan = loaded.plan(&request.inputs)?;
    require_harness(engine, &request.root, &plan, request.harness.as_deref())?;
    trust_question::to_start(engine, &request.root, &loaded, request.harness.as_deref())?;
    run_lookup::save_foreign_run(engine, &request.root)?;
    let Run { inputs, harness, .. } = request;
    let by = by(request.by);
    let new = NewRun { plan, declaration: loaded.bytes, inputs, harness, by, adopted: None };
    started_reply(engine, &request.root, begin(engine.host(), &request.root, new)?, 0)
}

pub fn resume(engine: &Engine, request: Resume) -> Result<Value, Refusal> {
    let root = &request.root;
    require_idle(engine, root)?;
    let takeover = Takeover::Asking { answers: &request.answer, inputs: &request.inputs };
    let target = TargetRun::of(&request.run_id, request.only, Eligible::Resume);
    let (run_id, others) = target.named(engine, root, request.which.as_deref(), &takeover)?;
    run_lookup::save_foreign_run(engine, root)?;
    let (by, how) = (by(request.by), Some(how(engine, request.how)));
    let admit = |opened: &Opened| admit(engine, root, opened, Purpose::Continue(&request.answer));
    let handle = take_up(engine.host(), root, &run_id, admit, |opened| -> Result<Vec<Event>, Refusal> {
        if opened.run.phase.ended() {
            // The machine's refusal says how it ended.
            return Ok(vec![Event::Resumed { by, how }]);
        }
        check_inputs(engine, root, opened, &request.inputs)?;
        if let Some(at) = review_changed_files(engine, root, opened, &request.answer)? {
            return Ok(at);
        }
        let mut events =
            before_driving(engine, root, opened, &request.answer, opened.run.open_gate().is_none())?;
        events.push(Event::Resumed { by, how });
        Ok(events)
    });
    started_reply(
        engine,
        root,
        handle.map_err(|refusal| run_lookup::explain_unreadable(engine, root, &run_id, refusal))?,
        others,
    )
}

//! Decisions at gates, and the retry of a failed stage.

use super::admission::{Purpose, admit};
use super::adoption::Takeover;
use super::answers::Answers;
use super::idle_run::{by, require_idle, started_reply, verb};
use super::preflight::before_driving;
use super::run_lookup;
use super::target_run::{Eligible, TargetRun};
use crate::driver::start::take_up;
use crate::engine::core::Engine;
use crate::engine::refusal::Refusal;
use crate::plan::Inputs;
use crate::run::event::{Decision, Event};
use crate::run::how::{self, How, Means};
use crate::run::machine;
use crate::run::state::gate_id;
use crate::runs::open::Opened;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::path::PathBuf;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decide {
    root: PathBuf,
    #[serde(deserialize_with = "decision")]
    decision: Decision,
    #[serde(default)]
    comment: String,
    run_id: Option<String>,
    #[serde(default)]
    only: bool,
    gate: Option<String>,
    /// The digest of the changes to trusted files that the gate's window showed.
    trust: Option<String>,
    #[serde(default)]
    answer: Answers,
    by: Option<String>,
    /// By what, as far as the editor knows: a call unless it says so.
    how: Option<Means>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retry {
    root: PathBuf,
    #[serde(default)]
    comment: String,
    run_id: Option<String>,
    #[serde(default)]
    only: bool,
    #[serde(default)]
    answer: Answers,
    by: Option<String>,
}

pub fn decide(engine: &Engine, request: Decide) -> Result<Value, Refusal> {
    let root = &request.root;
    require_idle(engine, root)?;
    let answers = request.answer.agreeing(request.trust.as_ref());
    let (drives, none) = (request.decision != Decision::Reject, Inputs::new());
    let asking = Takeover::Asking { answers: &answers, inputs: &none };
    let target = TargetRun::of(&request.run_id, request.only, Eligible::Decide);
    let run_id = target.find(engine, root, if drives { &asking } else { &Takeover::Quietly })?;
    let by = by(request.by);
    let how = Some(how(engine, request.how));
    let admit = |opened: &Opened| admit(engine, root, opened, Purpose::Continue(&request.answer));
    let handle = take_up(engine.host(), root, &run_id, admit, |opened| -> Result<Vec<Event>, Refusal> {
        let Some((stage, visit)) = opened.run.open_gate() else {
            return Err(no_gate(opened));
        };
        let open = gate_id(stage, visit);
        if let Some(given) = request.gate.as_ref().filter(|gate| **gate != open) {
            return Err(machine::Refusal::StaleGate { given: given.clone(), open }.into());
        }
        let mut events = Vec::new();
        if drives {
            events = before_driving(engine, root, opened, &answers, true)?;
        }
        let shown = engine.gate_lists.last(&opened.run, stage, visit);
        let host = engine.host();
        let looks = host.looks(&engine.cancel, root);
        let digest = shown.as_ref().and_then(|(shown, _)| looks.seal(&opened.dir, &open, shown));
        events.extend(shown.filter(|(_, news)| *news).map(|(shown, _)| shown.event(stage, visit)));
        let (decision, comment) = (request.decision, request.comment.clone());
        events.push(Event::GateDecided { stage, visit, decision, comment, by, digest, how });
        Ok(events)
    });
    started_reply(
        engine,
        root,
        handle.map_err(|refusal| run_lookup::explain_unreadable(engine, root, &run_id, refusal))?,
        0,
    )
}

pub fn retry(engine: &Engine, request: Retry) -> Result<Value, Refusal> {
    let event = Event::Retried { by: by(request.by), comment: request.comment };
    let target = TargetRun::of(&request.run_id, request.only, Eligible::Retry);
    verb(engine, &request.root, event, Some(&request.answer), target)
}

/// How this process decides.
fn how(engine: &Engine, means: Option<Means>) -> How {
    let means = if engine.config().headless { Means::Headless } else { means.unwrap_or(Means::Lua) };
    How { means, process: std::process::id(), program: crate::process::own_name() }
}

fn no_gate(opened: &Opened) -> Refusal {
    let run = &opened.run;
    let gate = run.decisions.last().map(|last| {
        format!(
            "; the last gate, stage {}, was decided by {}",
            last.stage + 1,
            how::by(&last.by, last.how.as_ref())
        )
    });
    Refusal::NoGate(format!(": {} is {}{}", run.plan.name(), run.phase.words(), gate.unwrap_or_default()))
}

fn decision<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Decision, D::Error> {
    let word = String::deserialize(deserializer)?;
    match word.as_str() {
        "approve" => Ok(Decision::Approve),
        "changes" => Ok(Decision::Changes),
        "reject" => Ok(Decision::Reject),
        _ => {
            let hint = crate::suggest::did_you_mean(&word, ["approve", "changes", "reject"]);
            Err(D::Error::custom(format!(
                "unknown decision \"{word}\"{hint}; expected approve, changes or reject"
            )))
        }
    }
}

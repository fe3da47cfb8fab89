//! Decisions at gates, and the retry of a failed stage.

use super::admission::{Purpose, admit};
use super::adoption::Takeover;
use super::answers::Answers;
use super::approval::{Approval, Held};
use super::idle_run::{by, how, require_idle, started_reply, verb};
use super::preflight::before_driving;
use super::run_lookup;
use super::target_run::{Eligible, TargetRun};
use crate::driver::gate_review::{GateReview, LONGEST};
use crate::driver::start::{record, take_up};
use crate::engine::core::Engine;
use crate::engine::refusal::Refusal;
use crate::plan::Inputs;
use crate::run::event::{Decision, Event};
use crate::run::how::{self, Means};
use crate::run::machine;
use crate::run::shown::Shown;
use crate::run::state::{Run, gate_id};
use crate::runs::open::Opened;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::path::{Path, PathBuf};

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
    /// The id of the list that the decision is for; by default the newest one that was shown.
    review: Option<String>,
    /// The number by which the comparison of files can be cancelled.
    look: Option<u64>,
    /// The digest of the trusted files that the gate's window showed as changed.
    trust: Option<String>,
    #[serde(default)]
    answer: Answers,
    by: Option<String>,
    /// How the user decided, as far as the editor knows; by default a call from Lua.
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
    /// As with a decision.
    how: Option<Means>,
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
    let host = engine.host();
    let cancel = engine.comparisons.begin(&engine.cancel, request.look).within(LONGEST);
    let comparer = host.comparer(&cancel, root);
    let deciding = engine.comparisons.begin_decision();
    let mut held = None;
    let handle = take_up(host.clone(), root, &run_id, admit, |opened| -> Result<Vec<Event>, Refusal> {
        let Some((stage, visit)) = opened.run.open_gate() else {
            return Err(no_gate(opened));
        };
        let open = gate_id(stage, visit);
        if let Some(given) = request.gate.as_ref().filter(|gate| **gate != open) {
            return Err(machine::Refusal::StaleGate { given: given.clone(), open }.into());
        }
        let given = engine.gate_lists.find(&opened.run, stage, visit, |shown| match &request.review {
            Some(id) => shown.is(id),
            None => shown.printed || !host.config.headless,
        });
        let mut since = Vec::new();
        if request.decision == Decision::Approve {
            let approval = Approval { engine, comparer: &comparer, opened, stage, answers: &answers };
            since = match approval.check(given.as_ref()) {
                Ok(since) => since,
                Err(kept) => {
                    let Held { refusal, shown, list } = *kept;
                    held = shown.map(|shown| NotTaken { run: opened.run.clone(), stage, visit, shown, list });
                    if host.config.headless {
                        // So that a script learns in one call of everything that it has to answer.
                        before_driving(engine, root, opened, &answers.agreeing_to_nothing(), true)?;
                    }
                    return Err(refusal);
                }
            };
        }
        let news = given.as_ref().filter(|given| given.is_news);
        // This comes first: in an edited declaration this stage may no longer have a gate.
        let mut events: Vec<Event> =
            news.map(|given| given.shown.clone().event(stage, visit)).into_iter().collect();
        if drives {
            events.extend(before_driving(engine, root, opened, &answers, true)?);
        }
        let shown = given.as_ref().map(|given| &given.shown);
        let digest = shown.and_then(|shown| comparer.seal(&opened.dir, &open, shown));
        let review = shown.and_then(|shown| shown.digest.clone());
        let (decision, comment) = (request.decision, request.comment.clone());
        events.push(Event::GateDecided { stage, visit, decision, comment, by, digest, review, since, how });
        Ok(events)
    });
    drop(deciding);
    engine.comparisons.end(request.look);
    if let Some(held) = held {
        held.keep(engine, root);
    }
    started_reply(
        engine,
        root,
        handle.map_err(|refusal| run_lookup::explain_unreadable(engine, root, &run_id, refusal))?,
        0,
    )
}

/// The list that was shown instead of accepting an approval.
struct NotTaken {
    run: Run,
    stage: usize,
    visit: u32,
    shown: Shown,
    list: Option<GateReview>,
}

impl NotTaken {
    /// Saves it in the journal, for the next decision. Headless, it is printed too.
    fn keep(self, engine: &Engine, root: &Path) {
        let Self { run, stage, visit, shown, list } = self;
        engine.gate_lists.remember(&run, stage, visit, &shown);
        if let Some(list) = list.filter(|_| shown.printed) {
            for line in list.lines(&run, stage, shown.id().unwrap_or_default()) {
                engine.notice_answer(root, &line);
            }
        }
        if run.shown_at(stage, visit).last() == Some(&shown) {
            return;
        }
        // If this fails, only this editor knows that the list was shown.
        let _ = record(&engine.host(), root, &run.run_id, shown.event(stage, visit));
    }
}

pub fn retry(engine: &Engine, request: Retry) -> Result<Value, Refusal> {
    let how = Some(how(engine, request.how));
    let event = Event::Retried { by: by(request.by), comment: request.comment, how };
    let target = TargetRun::of(&request.run_id, request.only, Eligible::Retry);
    verb(engine, &request.root, event, Some(&request.answer), target)
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

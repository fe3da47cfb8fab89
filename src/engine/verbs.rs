//! Operations that drive: run, resume, decide, retry, skip, pause, cancel, and the answers that a drive waits for.

use super::admission::{Purpose, admit};
use super::adoption::Taking;
use super::loaded::{Loaded, require_harness};
use super::questions::{Answers, before_driving, known_inputs, look_again, nested};
use super::whom::{Fits, Whom, running};
use super::{Engine, Refusal, trusted, which};
use crate::driver::Message;
use crate::driver::adopt::file_away;
use crate::driver::give_up::give_up;
use crate::driver::handle::{Handle, Standing};
use crate::driver::open::Opened;
use crate::driver::start::{NewRun, begin, take_up};
use crate::environ;
use crate::plan::Inputs;
use crate::run::event::{Decision, Event};
use crate::run::machine;
use crate::run::state::gate_id;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

type Answer = Result<Value, Refusal>;

/// How long a drive may take to answer a verb. One that is busy takes it as soon as it can.
const ANSWER: Duration = Duration::from_secs(1);
/// How long a drive may take to end.
const END: Duration = Duration::from_secs(5);

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
    /// Refused where several runs fit.
    #[serde(default)]
    only: bool,
    /// For those that an adopted `squad.json` lacks.
    #[serde(default)]
    inputs: Inputs,
    #[serde(default)]
    answer: Answers,
    by: Option<String>,
}

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
    /// The digest of what the gate's window showed as changed since it was trusted.
    trust: Option<String>,
    #[serde(default)]
    answer: Answers,
    by: Option<String>,
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Skip {
    root: PathBuf,
    run_id: Option<String>,
    #[serde(default)]
    only: bool,
    #[serde(default)]
    answer: Answers,
    by: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verb {
    root: PathBuf,
    run_id: Option<String>,
    #[serde(default)]
    only: bool,
    by: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerRequest {
    id: String,
    value: Option<Value>,
    error: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Submit {
    root: PathBuf,
    launch: u32,
    message: String,
}

pub fn run(engine: &Engine, request: Run) -> Answer {
    nested("start runs")?;
    idle(engine, &request.root)?;
    let loaded = Loaded::find(engine, &request.root, &request.name)?;
    let plan = loaded.plan(&request.inputs)?;
    require_harness(engine, &request.root, &plan, request.harness.as_deref())?;
    trusted::to_start(engine, &request.root, &loaded, request.harness.as_deref())?;
    which::make_way(engine, &request.root)?;
    let Run { inputs, harness, .. } = request;
    let by = by(request.by);
    let new = NewRun { plan, declaration: loaded.bytes, inputs, harness, by, adopted: None };
    started(engine, &request.root, begin(engine.host(), &request.root, new)?, 0)
}

pub fn resume(engine: &Engine, request: Resume) -> Answer {
    nested("resume runs")?;
    let root = &request.root;
    idle(engine, root)?;
    let taking = Taking::Asking { answers: &request.answer, inputs: &request.inputs };
    let whom = Whom::of(&request.run_id, request.only, Fits::Resume);
    let (run_id, others) = whom.named(engine, root, request.which.as_deref(), &taking)?;
    which::make_way(engine, root)?;
    let by = by(request.by);
    let admit = |opened: &Opened| admit(engine, root, opened, Purpose::Continue(&request.answer));
    let handle = take_up(engine.host(), root, &run_id, admit, |opened| -> Result<Vec<Event>, Refusal> {
        if opened.run.phase.ended() {
            // The machine says how it ended.
            return Ok(vec![Event::Resumed { by }]);
        }
        known_inputs(engine, root, opened, &request.inputs)?;
        if let Some(at) = look_again(engine, root, opened, &request.answer)? {
            return Ok(at);
        }
        let mut events =
            before_driving(engine, root, opened, &request.answer, opened.run.open_gate().is_none())?;
        events.push(Event::Resumed { by });
        Ok(events)
    });
    started(engine, root, handle.map_err(|refusal| which::lost(engine, root, &run_id, refusal))?, others)
}

pub fn decide(engine: &Engine, request: Decide) -> Answer {
    let root = &request.root;
    nested("decide over gates")?;
    idle(engine, root)?;
    let answers = request.answer.agreeing(request.trust.as_ref());
    let (drives, none) = (request.decision != Decision::Reject, Inputs::new());
    let asking = Taking::Asking { answers: &answers, inputs: &none };
    let whom = Whom::of(&request.run_id, request.only, Fits::Decide);
    let run_id = whom.find(engine, root, if drives { &asking } else { &Taking::Quietly })?;
    let by = by(request.by);
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
        let shown = engine.last_look(&opened.run, stage, visit);
        let host = engine.host();
        let looks = host.looks(&engine.hurry, root);
        let digest = shown.as_ref().and_then(|(shown, _)| looks.seal(&opened.dir, &open, shown));
        events.extend(shown.filter(|(_, news)| *news).map(|(shown, _)| shown.event(stage, visit)));
        let (decision, comment) = (request.decision, request.comment.clone());
        events.push(Event::GateDecided { stage, visit, decision, comment, by, digest });
        Ok(events)
    });
    started(engine, root, handle.map_err(|refusal| which::lost(engine, root, &run_id, refusal))?, 0)
}

pub fn retry(engine: &Engine, request: Retry) -> Answer {
    let event = Event::Retried { by: by(request.by), comment: request.comment };
    let whom = Whom::of(&request.run_id, request.only, Fits::Retry);
    verb(engine, &request.root, "retry", event, Some(&request.answer), whom)
}

pub fn skip(engine: &Engine, request: Skip) -> Answer {
    let event = Event::Skipped { by: by(request.by) };
    let whom = Whom::of(&request.run_id, request.only, Fits::Retry);
    if let Some(drive) = whom.driven(engine, &request.root)? {
        nested("skip")?;
        // What a human carries out is skipped where it stands; an agent is paused or cancelled first.
        if let Some(Ok(())) = told(&drive, &event) {
            return Ok(json!({ "run_id": drive.run_id }));
        }
    }
    verb(engine, &request.root, "skip", event, Some(&request.answer), whom)
}

pub fn pause(engine: &Engine, request: Verb) -> Answer {
    let event = Event::PauseRequested { by: by(request.by) };
    let whom = Whom::of(&request.run_id, request.only, Fits::Pause);
    told_or_done(engine, &request.root, "pause", event, whom)
}

pub fn cancel(engine: &Engine, request: Verb) -> Answer {
    nested("cancel runs")?;
    let by = by(request.by);
    let event = Event::Cancelled { by: by.clone() };
    let whom = Whom::of(&request.run_id, request.only, Fits::Cancel);
    let answer = told_or_done(engine, &request.root, "cancel", event, whom);
    match answer {
        Err(refusal)
            if matches!(refusal, Refusal::ForeignRun(_))
                || matches!(refusal, Refusal::Lost { .. })
                    && which::is_foreign(engine, &request.root, whom.run_id) =>
        {
            let run_id = whom.find(engine, &request.root, &Taking::Quietly)?;
            let to = file_away(&engine.host(), &request.root, &run_id)?;
            let to = to.strip_prefix(&request.root).unwrap_or(&to).display();
            engine.notice(&request.root, "info", &format!("the run's files were moved to \"{to}\""));
            Ok(json!({ "run_id": run_id, "others": 0, "state": "cancelled" }))
        }
        Err(Refusal::Lost { .. }) => {
            // What cannot be read cannot be gone on with, but it can be ended.
            let run_id = whom.find(engine, &request.root, &Taking::Quietly)?;
            give_up(&engine.host(), &request.root, &run_id, &by)?;
            Ok(json!({ "run_id": run_id, "others": 0, "state": "cancelled" }))
        }
        answer => answer,
    }
}

pub fn answer(engine: &Engine, request: AnswerRequest) -> Answer {
    let answer = match (request.value, request.error) {
        (Some(value), None) => Ok(value),
        (_, error) => Err(error.unwrap_or_else(|| "no answer".into())),
    };
    for drive in engine.drives() {
        if request.id.starts_with(&drive.run_id) {
            drive.tell(Message::Answer(request.id.clone(), answer.clone()));
        }
    }
    Ok(json!({}))
}

pub fn submit(engine: &Engine, request: Submit) -> Answer {
    if request.message.trim().is_empty() {
        return Err(Refusal::EmptyResult);
    }
    let (reply, answer) = channel();
    let drive = running(engine, &request.root).ok_or(Refusal::NothingToSubmit)?;
    let told = drive.tell(Message::Submit(request.launch, request.message, reply));
    told.then_some(()).ok_or(Refusal::NothingToSubmit)?;
    match answer.recv_timeout(ANSWER) {
        // It is busy with the disk, and takes it then.
        Ok(true) | Err(RecvTimeoutError::Timeout) => Ok(json!({})),
        Ok(false) | Err(RecvTimeoutError::Disconnected) => Err(Refusal::NothingToSubmit),
    }
}

/// A verb for a run that nobody drives, the current one unless another is named; one that goes on with it comes with its
/// answers.
fn verb(
    engine: &Engine,
    root: &Path,
    name: &str,
    event: Event,
    answers: Option<&Answers>,
    whom: Whom,
) -> Answer {
    if answers.is_some() {
        nested(name)?;
    }
    idle(engine, root)?;
    let inputs = Inputs::new();
    let taking = answers.map_or(Taking::Quietly, |answers| Taking::Asking { answers, inputs: &inputs });
    let run_id = whom.find(engine, root, &taking)?;
    let purpose = match (&event, answers) {
        // A run that ends loses nothing by what its journal has lost.
        (Event::Cancelled { .. }, _) => Purpose::End,
        (_, Some(answers)) => Purpose::Continue(answers),
        (_, None) => Purpose::Pause,
    };
    let admit = |opened: &Opened| admit(engine, root, opened, purpose);
    let handle = take_up(engine.host(), root, &run_id, admit, |opened| -> Result<Vec<Event>, Refusal> {
        let mut events = Vec::new();
        // The machine says of a run that is over, or that waits for another verb, what it is.
        let fits = matches!(opened.run.phase.reason(), Some(reason) if !reason.waits_for_another_verb());
        if let Some(answers) = answers.filter(|_| fits) {
            if let Some(at) = look_again(engine, root, opened, answers)? {
                return Ok(at);
            }
            events = before_driving(engine, root, opened, answers, true)?;
        }
        events.push(event);
        Ok(events)
    });
    started(engine, root, handle.map_err(|refusal| which::lost(engine, root, &run_id, refusal))?, 0)
}

/// Hands a verb to the drive that is under way, or does it without one.
fn told_or_done(engine: &Engine, root: &Path, name: &str, event: Event, whom: Whom) -> Answer {
    if let Some(drive) = whom.driven(engine, root)?
        && let Some(answer) = told(&drive, &event)
    {
        return answer.map(|()| json!({ "run_id": drive.run_id })).map_err(Refusal::from);
    }
    verb(engine, root, name, event, None, whom)
}

/// What a drive answers to a verb; nothing where it has ended, or cannot write it down.
fn told(drive: &Handle, event: &Event) -> Option<Result<(), machine::Refusal>> {
    let (reply, answer) = channel();
    drive.tell(Message::Verb(event.clone(), reply)).then_some(())?;
    match answer.recv_timeout(ANSWER) {
        Ok(answer) => answer,
        // It is busy with the disk. What it then says is said by a notice.
        Err(RecvTimeoutError::Timeout) => Some(Ok(())),
        Err(RecvTimeoutError::Disconnected) => None,
    }
}

fn started(engine: &Engine, root: &Path, handle: Handle, others: usize) -> Answer {
    let handle = engine.keep(root, handle);
    Ok(json!({ "run_id": handle.run_id, "others": others, "state": handle.state() }))
}

/// Refuses while this editor drives a run of the project; one that is just ending is waited for.
fn idle(engine: &Engine, root: &Path) -> Result<(), Refusal> {
    let Some(drive) = running(engine, root) else { return Ok(()) };
    let Standing { is_running, superpower, stage } = drive.standing();
    if !is_running && drive.wait(END) {
        return Ok(());
    }
    Err(Refusal::Running { run_id: drive.run_id.clone(), superpower, stage })
}

fn no_gate(opened: &Opened) -> Refusal {
    let run = &opened.run;
    let gate = run
        .decisions
        .last()
        .map(|last| format!("; the last gate, stage {}, was decided by {}", last.stage + 1, last.by));
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
            Err(D::Error::custom(format!("\"{word}\" is no decision{hint}: approve, changes or reject")))
        }
    }
}

fn by(by: Option<String>) -> String {
    by.filter(|by| !by.is_empty()).unwrap_or_else(environ::user)
}

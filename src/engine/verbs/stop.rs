//! `pause`, `cancel` and `skip`: verbs for a run that is driven, or for one that is not.

use super::adoption::Taking;
use super::answers::Answers;
use super::idle_run::{by, verb};
use super::nested::nested;
use super::run_lookup;
use super::target_run::{Fits, Whom};
use crate::driver::Message;
use crate::driver::adopt::file_away;
use crate::driver::cancel_unreadable::cancel_unreadable;
use crate::driver::handle::Handle;
use crate::engine::core::Engine;
use crate::engine::refusal::Refusal;
use crate::run::event::Event;
use crate::run::machine;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How long a drive may take to answer a verb. One that is busy takes it as soon as it can.
pub const ANSWER: Duration = Duration::from_secs(1);

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

pub fn skip(engine: &Engine, request: Skip) -> Result<Value, Refusal> {
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

pub fn pause(engine: &Engine, request: Verb) -> Result<Value, Refusal> {
    let event = Event::PauseRequested { by: by(request.by) };
    let whom = Whom::of(&request.run_id, request.only, Fits::Pause);
    told_or_done(engine, &request.root, "pause", event, whom)
}

pub fn cancel(engine: &Engine, request: Verb) -> Result<Value, Refusal> {
    nested("cancel runs")?;
    let by = by(request.by);
    let event = Event::Cancelled { by: by.clone() };
    let whom = Whom::of(&request.run_id, request.only, Fits::Cancel);
    let answer = told_or_done(engine, &request.root, "cancel", event, whom);
    match answer {
        Err(refusal)
            if matches!(refusal, Refusal::ForeignRun(_))
                || matches!(refusal, Refusal::Lost { .. })
                    && run_lookup::is_foreign(engine, &request.root, whom.run_id) =>
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
            cancel_unreadable(&engine.host(), &request.root, &run_id, &by)?;
            Ok(json!({ "run_id": run_id, "others": 0, "state": "cancelled" }))
        }
        answer => answer,
    }
}

/// Hands a verb to the drive that is under way, or does it without one.
fn told_or_done(
    engine: &Engine,
    root: &Path,
    name: &str,
    event: Event,
    whom: Whom,
) -> Result<Value, Refusal> {
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

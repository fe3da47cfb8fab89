//! The verbs `pause`, `cancel` and `skip`, for runs with and without an active drive.

use super::adoption::Takeover;
use super::answers::Answers;
use super::idle_run::{by, how, verb};
use super::run_lookup;
use super::target_run::{Eligible, TargetRun};
use crate::driver::Message;
use crate::driver::adopt::file_away;
use crate::driver::cancel_unreadable::cancel_unreadable;
use crate::driver::handle::Handle;
use crate::engine::core::Engine;
use crate::engine::refusal::Refusal;
use crate::run::event::Event;
use crate::run::how::Means;
use crate::run::machine;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Maximum wait for a drive's reply to a verb. A busy drive performs the verb later.
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
    /// By what, as far as the editor knows.
    how: Option<Means>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verb {
    root: PathBuf,
    run_id: Option<String>,
    #[serde(default)]
    only: bool,
    by: Option<String>,
    /// By what, as far as the editor knows.
    how: Option<Means>,
}

pub fn skip(engine: &Engine, request: Skip) -> Result<Value, Refusal> {
    let event = Event::Skipped { by: by(request.by), how: Some(how(engine, request.how)) };
    let target = TargetRun::of(&request.run_id, request.only, Eligible::Retry);
    if let Some(drive) = target.driven(engine, &request.root)? {
        // A manual stage is skipped by the drive; an agent must be paused or cancelled first.
        if let Some(Ok(())) = send_verb(&drive, &event) {
            return Ok(json!({ "run_id": drive.run_id }));
        }
    }
    verb(engine, &request.root, event, Some(&request.answer), target)
}

pub fn pause(engine: &Engine, request: Verb) -> Result<Value, Refusal> {
    let event = Event::PauseRequested { by: by(request.by) };
    let target = TargetRun::of(&request.run_id, request.only, Eligible::Pause);
    send_or_perform(engine, &request.root, event, target)
}

pub fn cancel(engine: &Engine, request: Verb) -> Result<Value, Refusal> {
    let event = Event::Cancelled { by: by(request.by), how: Some(how(engine, request.how)) };
    let target = TargetRun::of(&request.run_id, request.only, Eligible::Cancel);
    let answer = send_or_perform(engine, &request.root, event.clone(), target);
    match answer {
        Err(refusal)
            if matches!(refusal, Refusal::ForeignRun(_))
                || matches!(refusal, Refusal::Lost { .. })
                    && run_lookup::is_foreign(engine, &request.root, target.run_id) =>
        {
            let run_id = target.find(engine, &request.root, &Takeover::Quietly)?;
            let to = file_away(&engine.host(), &request.root, &run_id)?;
            let to = to.strip_prefix(&request.root).unwrap_or(&to).display();
            engine.notice(&request.root, "info", &format!("moved the run's files to \"{to}\""));
            Ok(json!({ "run_id": run_id, "others": 0, "state": "cancelled" }))
        }
        Err(Refusal::Lost { .. }) => {
            // An unreadable run cannot continue, but it can be cancelled.
            let run_id = target.find(engine, &request.root, &Takeover::Quietly)?;
            cancel_unreadable(&engine.host(), &request.root, &run_id, event)?;
            Ok(json!({ "run_id": run_id, "others": 0, "state": "cancelled" }))
        }
        Err(why) if why.is_of_squad() => {
            run_lookup::cancel_squad(engine, &request.root, why)?;
            if target.run_id.is_some() {
                return send_or_perform(engine, &request.root, event, target);
            }
            Ok(json!({ "others": 0, "state": "cancelled" }))
        }
        answer => answer,
    }
}

/// Sends a verb to the active drive, or performs it without one.
fn send_or_perform(engine: &Engine, root: &Path, event: Event, target: TargetRun) -> Result<Value, Refusal> {
    if let Some(drive) = target.driven(engine, root)?
        && let Some(answer) = send_verb(&drive, &event)
    {
        return answer.map(|()| json!({ "run_id": drive.run_id })).map_err(Refusal::from);
    }
    verb(engine, root, event, None, target)
}

/// A drive's reply to a verb; `None` if it has ended or could not write the event.
fn send_verb(drive: &Handle, event: &Event) -> Option<Result<(), machine::Refusal>> {
    let (reply, answer) = channel();
    drive.send(Message::Verb(event.clone(), reply)).then_some(())?;
    match answer.recv_timeout(ANSWER) {
        Ok(answer) => answer,
        // A drive that is busy with the disk reports the outcome in a notice.
        Err(RecvTimeoutError::Timeout) => Some(Ok(())),
        Err(RecvTimeoutError::Disconnected) => None,
    }
}

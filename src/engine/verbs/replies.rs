//! Replies that a drive waits for: the answer to a question, and the result of a manual stage.

use super::stop::ANSWER;
use super::target_run::running;
use crate::driver::Message;
use crate::engine::core::Engine;
use crate::engine::refusal::Refusal;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};

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
    /// Whether the buffer is written because the editor is about to exit.
    #[serde(default)]
    leaving: bool,
}

pub fn answer(engine: &Engine, request: AnswerRequest) -> Result<Value, Refusal> {
    let answer = match (request.value, request.error) {
        (Some(value), None) => Ok(value),
        (_, error) => Err(error.unwrap_or_else(|| "no answer".into())),
    };
    engine.followers.answered(&request.id);
    for drive in engine.drives() {
        if request.id.starts_with(&drive.run_id) {
            drive.send(Message::Answer(request.id.clone(), answer.clone()));
        }
    }
    Ok(json!({}))
}

pub fn submit(engine: &Engine, request: Submit) -> Result<Value, Refusal> {
    if request.message.trim().is_empty() {
        return Err(Refusal::EmptyResult);
    }
    let (reply, answer) = channel();
    let drive = running(engine, &request.root).ok_or(Refusal::NothingToSubmit)?;
    if request.leaving {
        drive.send(Message::Leaving);
    }
    let sent = drive.send(Message::Submit(request.launch, request.message, reply));
    sent.then_some(()).ok_or(Refusal::NothingToSubmit)?;
    match answer.recv_timeout(ANSWER) {
        // A drive that is busy with the disk takes the result afterwards.
        Ok(true) | Err(RecvTimeoutError::Timeout) => Ok(json!({})),
        Ok(false) | Err(RecvTimeoutError::Disconnected) => Err(Refusal::NothingToSubmit),
    }
}

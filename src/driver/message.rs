//! What reaches a drive: from agents, from people, from the editor that is left.

use super::gate_review::Looked;
use crate::harness::Signal;
use crate::run::event::Event;
use crate::run::machine::Refusal;
use serde_json::Value;
use std::sync::mpsc::Sender;
use std::time::Duration;

/// Answers a verb: none where it could not be saved.
pub type Reply = Sender<Option<Result<(), Refusal>>>;

/// What reaches a drive.
#[derive(Debug)]
pub enum Message {
    /// From an agent, by its launch.
    Agent(u32, Signal),
    /// A verb while it drives: pause, cancel or skip.
    Verb(Event, Reply),
    /// The answer to an `ask-fact` or a `permission`, by its id.
    Answer(String, Result<Value, String>),
    /// The result of a `manual` launch; the answer says whether that launch still waits for one.
    Submit(u32, String, Sender<bool>),
    /// The editor is about to leave, unless something keeps it: nothing begins until it has had time to.
    Leaving,
    /// A look at the files, by its number, has come to an end.
    Looked(u64, Result<Looked, String>),
    /// The checkpoints' document has changed.
    Checkpoints,
    /// The editor leaves: end everything within this time.
    Leave(Duration),
}

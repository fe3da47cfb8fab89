//! Messages to a drive: from agents, from the user, and from an editor that exits.

use super::gate_review::Comparison;
use crate::harness::Signal;
use crate::run::event::Event;
use crate::run::machine::Refusal;
use serde_json::Value;
use std::sync::mpsc::Sender;
use std::time::Duration;

/// Answers a verb; `None` if it could not be saved.
pub type Reply = Sender<Option<Result<(), Refusal>>>;

/// A message to a drive.
#[derive(Debug)]
pub enum Message {
    /// From an agent, with its launch.
    Agent(u32, Signal),
    /// A verb during a drive: pause, cancel or skip.
    Verb(Event, Reply),
    /// The answer to an `ask-fact` or a `permission`, with its id.
    Answer(String, Result<Value, String>),
    /// The editor that an `ask-fact` or `ask-prompt` with this id was put to has left, and there is no other.
    NoEditor(String),
    /// The result of a `manual` launch. The reply says whether that launch still waited for one.
    Submit(u32, String, Sender<bool>),
    /// The editor is about to exit. Nothing starts until it has had time to; something may still prevent the exit.
    Leaving,
    /// A comparison of the files, given by its number, has ended.
    Compared(u64, Result<Comparison, String>),
    /// The checkpoint document has changed.
    Checkpoints,
    /// The editor exits: everything must end within this time.
    Leave(Duration),
}

//! What reaches a drive: from agents, from people, from the editor that is left.

use super::gate_review::Looked;
use super::mailbox::Outbox;
use super::publish::Picture;
use super::standing::Standing;
use crate::harness::Signal;
use crate::project::review::Hurry;
use crate::run::event::Event;
use crate::run::machine::Refusal;
use serde_json::Value;
use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard, PoisonError};
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
    /// A look at the files, by its number, has come to an end.
    Looked(u64, Result<Looked, String>),
    /// The checkpoints' document has changed.
    Checkpoints,
    /// The editor leaves: end everything within this time.
    Leave(Duration),
}

/// What others may know of a drive while it drives.
#[derive(Debug, Default)]
pub struct Shared {
    picture: Mutex<Picture>,
    /// The drive has ended: what it is told now would be heard by nobody.
    closed: Mutex<bool>,
    /// A cancel, or the end of the editor, is on its way: git is not waited for, and nothing is started.
    pub(super) hurry: Hurry,
}

impl Shared {
    /// The newest picture of the run.
    pub fn snapshot(&self) -> Value {
        serde_json::from_str(&self.text()).unwrap_or_default()
    }

    /// The same, written.
    pub fn text(&self) -> String {
        self.picture().run().to_owned()
    }

    /// What the run is at.
    pub fn standing(&self) -> Standing {
        self.picture().standing.clone()
    }

    pub(super) fn picture(&self) -> MutexGuard<'_, Picture> {
        self.picture.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn closed(&self) -> MutexGuard<'_, bool> {
        self.closed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn tell(&self, outbox: &Outbox, message: Message) -> bool {
        let closed = self.closed();
        let hurry = matches!(message, Message::Leave(_) | Message::Verb(Event::Cancelled { .. }, _));
        let told = !*closed && outbox.send(message);
        if hurry {
            self.hurry.set(true);
        }
        told
    }
}

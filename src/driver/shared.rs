//! The part of a drive that other threads may read, and how they reach the drive.

use super::logged::Logged;
use super::mailbox::Outbox;
use super::message::Message;
use super::picture::Picture;
use super::run_status::Standing;
use crate::project::review::CancelToken;
use crate::run::event::Event;
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The part of a drive that other threads may read.
#[derive(Debug, Default)]
pub struct Shared {
    picture: Mutex<Picture>,
    logged: Mutex<Logged>,
    /// Whether the drive has ended and takes no more messages.
    closed: Mutex<bool>,
    /// Set if a cancel or the editor's exit is on its way: git is not waited for, and nothing is started.
    pub(super) cancel: CancelToken,
}

impl Shared {
    /// The latest picture of the run.
    pub fn snapshot(&self) -> Value {
        serde_json::from_str(&self.text()).unwrap_or_default()
    }

    /// The latest picture as text.
    pub fn text(&self) -> String {
        self.picture().run().to_owned()
    }

    /// The event of the latest picture; `None` before the first one.
    pub fn event(&self) -> Option<Arc<str>> {
        let picture = self.picture();
        picture.is_drawn().then(|| picture.event.clone())
    }

    /// The run's state.
    pub fn standing(&self) -> Standing {
        self.picture().standing.clone()
    }

    /// The log lines so far.
    pub fn log(&self) -> Logged {
        self.logged().clone()
    }

    pub(super) fn logged(&self) -> MutexGuard<'_, Logged> {
        self.logged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn picture(&self) -> MutexGuard<'_, Picture> {
        self.picture.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn closed(&self) -> MutexGuard<'_, bool> {
        self.closed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn send(&self, outbox: &Outbox, message: Message) -> bool {
        let closed = self.closed();
        let cancel = matches!(message, Message::Leave(_) | Message::Verb(Event::Cancelled { .. }, _));
        let sent = !*closed && outbox.send(message);
        if cancel {
            self.cancel.set(true);
        }
        sent
    }
}

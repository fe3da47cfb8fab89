//! What others may know of a drive while it drives, and how they reach it.

use super::mailbox::Outbox;
use super::message::Message;
use super::picture::Picture;
use super::run_status::Standing;
use crate::project::review::CancelToken;
use crate::run::event::Event;
use serde_json::Value;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What others may know of a drive while it drives.
#[derive(Debug, Default)]
pub struct Shared {
    picture: Mutex<Picture>,
    /// The drive has ended: what it is told now would be heard by nobody.
    closed: Mutex<bool>,
    /// A cancel, or the end of the editor, is on its way: git is not waited for, and nothing is started.
    pub(super) cancel: CancelToken,
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
        let cancel = matches!(message, Message::Leave(_) | Message::Verb(Event::Cancelled { .. }, _));
        let told = !*closed && outbox.send(message);
        if cancel {
            self.cancel.set(true);
        }
        told
    }
}

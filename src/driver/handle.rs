//! The handle to a running drive.

use super::mailbox::Outbox;
use super::run_status::Standing;
use super::{Message, Shared};
use crate::sync::{Once, locked};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A drive, as its owner sees it.
#[derive(Debug)]
pub struct Handle {
    pub run_id: String,
    pub(super) outbox: Outbox,
    /// Held until the drive may start its loop.
    pub(super) start: Mutex<Option<Sender<()>>>,
    /// What may be known of it.
    pub shared: Arc<Shared>,
    pub(super) over: Arc<Once>,
}

impl Handle {
    /// The run's state in its latest picture.
    pub fn standing(&self) -> Standing {
        self.shared.standing()
    }

    /// Lets the drive start its loop. Before this it publishes nothing.
    pub fn go(&self) {
        locked(&self.start).take();
    }

    /// Sends a message to the drive; returns false if it has ended.
    pub fn send(&self, message: Message) -> bool {
        self.shared.send(&self.outbox, message)
    }

    pub fn is_over(&self) -> bool {
        self.over.is_set()
    }

    /// Waits for the end of the drive, for at most `limit`.
    pub fn wait(&self, limit: Duration) -> bool {
        self.over.wait(Instant::now() + limit)
    }
}

//! A drive in the hands of whoever began it.

use super::mailbox::Outbox;
use super::run_status::Standing;
use super::{Message, Shared};
use crate::sync::{Once, locked};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A drive, as its owner holds it.
#[derive(Debug)]
pub struct Handle {
    /// The run.
    pub run_id: String,
    pub(super) outbox: Outbox,
    /// Held until the drive may go on.
    pub(super) start: Mutex<Option<Sender<()>>>,
    /// What may be known of it.
    pub shared: Arc<Shared>,
    pub(super) over: Arc<Once>,
}

impl Handle {
    /// What the run is at, as its newest picture shows it.
    pub fn standing(&self) -> Standing {
        self.shared.standing()
    }

    /// Lets the drive go on; until then it has begun, but is not heard of.
    pub fn go(&self) {
        locked(&self.start).take();
    }

    /// Tells the drive something; false where it has ended and takes nothing any more.
    pub fn tell(&self, message: Message) -> bool {
        self.shared.tell(&self.outbox, message)
    }

    /// Whether the drive is over.
    pub fn is_over(&self) -> bool {
        self.over.is_set()
    }

    /// Waits for the end of the drive, at most this long.
    pub fn wait(&self, limit: Duration) -> bool {
        self.over.wait(Instant::now() + limit)
    }
}

//! A drive in the hands of whoever began it.

use super::mailbox::Outbox;
use super::standing::Standing;
use super::{Message, Shared};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
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
    pub(super) thread: JoinHandle<()>,
}

impl Handle {
    /// What the run is at, as its newest picture shows it.
    pub fn standing(&self) -> Standing {
        self.shared.standing()
    }

    /// Lets the drive go on; until then it has begun, but is not heard of.
    pub fn go(&self) {
        self.start.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Tells the drive something; false where it has ended and takes nothing any more.
    pub fn tell(&self, message: Message) -> bool {
        self.shared.tell(&self.outbox, message)
    }

    /// Whether the drive is over.
    pub fn is_over(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits for the end of the drive, at most this long.
    pub fn wait(&self, limit: Duration) -> bool {
        let until = Instant::now() + limit;
        while !self.is_over() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
        self.is_over()
    }
}

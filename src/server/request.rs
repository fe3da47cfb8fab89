//! What a client asks of a driver, and who waits for the answer.

use crate::engine::Engine;
use crate::environ::Variables;
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// A job for a link's thread.
#[derive(Debug)]
pub(super) enum Job {
    Ask(Box<Request>),
    /// Answered when everything before it was sent.
    Flush(Sender<()>),
}

/// An operation that was asked for.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) id: u64,
    pub(super) request: Map<String, Value>,
    /// Whether it starts or continues a run.
    pub(super) starts: bool,
    /// Who performs it where no driver lives.
    pub(super) otherwise: Otherwise,
    pub(super) config: Arc<Value>,
    pub(super) environment: Arc<Variables>,
    pub(super) reply: Reply,
    /// Whether it was sent before, over a connection that ended without any answer.
    pub(super) again: bool,
}

impl Request {
    /// A call of the connection's own, which is no operation.
    pub(super) fn of_connection(id: u64) -> Self {
        Self {
            id,
            request: Map::new(),
            starts: false,
            otherwise: Otherwise::Here,
            config: Arc::default(),
            environment: Arc::default(),
            reply: Reply::Nobody,
            again: true,
        }
    }
}

/// Who performs an operation where no driver lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Otherwise {
    /// This process.
    Here,
    /// A driver that is started for it, and this process where none can be had.
    Started,
    /// A driver that is started for it, and nobody else.
    OnlyStarted,
}

/// Who waits for the answer.
#[derive(Debug)]
pub(super) enum Reply {
    /// Lua: an `answered` event.
    Event,
    /// A thread; it gets nothing where the operation has to be performed in this process.
    Thread(Sender<Option<String>>),
    /// Nobody; what fails is said in a notice.
    Nobody,
}

/// Tells this process something about a project's driver.
pub(super) fn notice(engine: &Engine, root: &Path, level: &str, message: &str) {
    engine.queue().push(json!({ "type": "notice", "root": root, "level": level, "message": message }));
}

//! What an operation of the door is.

use super::core::Engine;
use super::refusal::Refusal;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Who may wait for an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// The editor's main loop: it is over in less than a millisecond.
    Main,
    /// The engine's worker: it reads journals or a whole project, takes locks, or asks git. Its answer is an event.
    Worker,
}

impl Lane {
    /// As the schema has it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Worker => "worker",
        }
    }
}

/// What becomes of an operation that waits for the worker when the editor is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WhenLeft {
    /// Nobody will hear the answer.
    Forgotten,
    /// What a person has decided about a run is written down, also where the editor is left before it could be.
    Done,
    /// The same of what ends a run, which waits for no look at its files either.
    Ends,
}

/// How an operation is performed.
#[derive(Clone, Copy)]
pub(super) enum Run {
    /// By this, on the thread that has the request.
    Now(fn(&Engine, Fields) -> Result<Reply, Refusal>),
    /// By the worker: the door hands over what it asks for.
    Later,
}

/// An operation: a row of the table.
pub(super) struct Op {
    pub name: &'static str,
    pub lane: Lane,
    pub when_left: WhenLeft,
    pub run: Run,
    /// It would wait for itself, or for the thread that it is in.
    only_called: bool,
}

impl Op {
    /// One that the main loop may wait for.
    pub const fn main(name: &'static str, run: fn(&Engine, Fields) -> Result<Reply, Refusal>) -> Self {
        Self {
            name,
            lane: Lane::Main,
            when_left: WhenLeft::Forgotten,
            run: Run::Now(run),
            only_called: false,
        }
    }

    /// One that it may not wait for.
    pub const fn worker(name: &'static str, run: fn(&Engine, Fields) -> Result<Reply, Refusal>) -> Self {
        Self { lane: Lane::Worker, ..Self::main(name, run) }
    }

    /// The one that hands a request to the worker.
    pub const fn asks(name: &'static str) -> Self {
        Self { name, lane: Lane::Main, when_left: WhenLeft::Forgotten, run: Run::Later, only_called: true }
    }

    pub const fn or_done_when_left(self) -> Self {
        Self { when_left: WhenLeft::Done, ..self }
    }

    pub const fn or_ended_when_left(self) -> Self {
        Self { when_left: WhenLeft::Ends, ..self }
    }

    pub const fn only_called(self) -> Self {
        Self { only_called: true, ..self }
    }

    pub fn is_only_called(&self) -> bool {
        self.only_called
    }
}

/// The fields of a request.
pub(super) struct Fields {
    op: &'static str,
    map: Map<String, Value>,
}

impl Fields {
    pub fn new(op: &'static str, map: Map<String, Value>) -> Self {
        Self { op, map }
    }

    /// As an operation's own request.
    pub fn read<T: DeserializeOwned>(self) -> Result<T, Refusal> {
        serde_json::from_value(Value::Object(self.map)).map_err(|error| {
            Refusal::BadRequest(format!("{}: {}", self.op, error.to_string().replace('`', "\"")))
        })
    }
}

/// What an operation answers.
pub(super) enum Reply {
    /// Data.
    Value(Value),
    /// Data that is written already.
    Text(String),
}

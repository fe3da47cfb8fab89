//! The type of an operation: a row of the table in `ops.rs`.

use super::core::Engine;
use super::refusal::Refusal;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::path::Path;

/// Which thread performs an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// The editor's main thread: the operation takes less than a millisecond.
    Main,
    /// The engine's worker: the operation reads journals or a whole project, takes locks, or runs git. An event brings
    /// its reply.
    Worker,
}

impl Lane {
    /// The word in the schema.
    pub fn word(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Worker => "worker",
        }
    }
}

/// Which process performs an operation, where a driver process drives the project's runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The one that asks: the operation is about declarations, or about this process.
    Here,
    /// The driver, if one is there.
    Driver,
    /// The driver, which is started for it.
    StartsDriver,
    /// Both: each knows of its own.
    Both,
    /// Whoever knows of drivers, which the engine does not.
    Client,
}

/// What happens to an operation that still waits for the worker when the editor exits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnExit {
    /// It is dropped: nothing reads its reply.
    Forgotten,
    /// It is performed, because it writes down a person's decision about a run.
    Done,
    /// Like `Done`, for operations that end a run: they also cancel an active file comparison.
    Ends,
}

#[derive(Clone, Copy)]
pub(super) enum Run {
    /// By this function, on the thread that has the request.
    Now(fn(&Engine, Fields) -> Result<Reply, Refusal>),
    Later,
}

pub(super) struct Op {
    pub name: &'static str,
    pub lane: Lane,
    pub place: Place,
    pub on_exit: OnExit,
    pub run: Run,
    /// Whether it is refused inside of `ask`, because there it would wait for its own thread.
    only_called: bool,
    /// What the operation does, where only humans do it: a process below an agent's is refused.
    for_humans: Option<&'static str>,
}

impl Op {
    /// An operation of the main lane.
    pub const fn main(name: &'static str, run: fn(&Engine, Fields) -> Result<Reply, Refusal>) -> Self {
        Self {
            name,
            lane: Lane::Main,
            place: Place::Here,
            on_exit: OnExit::Forgotten,
            run: Run::Now(run),
            only_called: false,
            for_humans: None,
        }
    }

    /// An operation of the worker lane.
    pub const fn worker(name: &'static str, run: fn(&Engine, Fields) -> Result<Reply, Refusal>) -> Self {
        Self { lane: Lane::Worker, ..Self::main(name, run) }
    }

    /// The operation that hands a request to the worker.
    pub const fn later(name: &'static str) -> Self {
        Self {
            name,
            lane: Lane::Main,
            place: Place::Here,
            on_exit: OnExit::Forgotten,
            run: Run::Later,
            only_called: true,
            for_humans: None,
        }
    }

    /// A view of runs, or a verb that a driver performs if one is there.
    pub const fn by_driver(self) -> Self {
        Self { place: Place::Driver, ..self }
    }

    /// A verb that drives a run, or belongs to one that does.
    pub const fn starts_driver(self) -> Self {
        Self { place: Place::StartsDriver, ..self }
    }

    /// An operation about drivers themselves.
    pub const fn about_drivers(self) -> Self {
        Self { place: Place::Client, ..self }
    }

    pub const fn in_both(self) -> Self {
        Self { place: Place::Both, ..self }
    }

    pub const fn done_on_exit(self) -> Self {
        Self { on_exit: OnExit::Done, ..self }
    }

    pub const fn ended_on_exit(self) -> Self {
        Self { on_exit: OnExit::Ends, ..self }
    }

    pub const fn only_called(self) -> Self {
        Self { only_called: true, ..self }
    }

    /// Marks an operation that decides, drives, trusts or finishes; the refusal says `what` it does.
    pub const fn for_humans(self, what: &'static str) -> Self {
        Self { for_humans: Some(what), ..self }
    }

    /// What the operation does, where only humans do it.
    pub const fn what_for_humans(&self) -> Option<&'static str> {
        self.for_humans
    }

    pub fn is_only_called(&self) -> bool {
        self.only_called
    }
}

pub(super) struct Fields {
    op: &'static str,
    map: Map<String, Value>,
}

impl Fields {
    pub fn new(op: &'static str, map: Map<String, Value>) -> Self {
        Self { op, map }
    }

    /// The project that the request is about.
    pub fn root(&self) -> Option<&Path> {
        self.map.get("root").and_then(Value::as_str).map(Path::new)
    }

    /// Parses the fields as the operation's request.
    pub fn read<T: DeserializeOwned>(self) -> Result<T, Refusal> {
        serde_json::from_value(Value::Object(self.map)).map_err(|error| {
            Refusal::BadRequest(format!("{}: {}", self.op, error.to_string().replace('`', "\"")))
        })
    }
}

pub(super) enum Reply {
    Value(Value),
    /// JSON that is serialized already.
    Text(String),
}

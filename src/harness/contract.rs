//! The interface of a harness: what it starts, and how its output is read.

use super::signal::{Answer, Ending, Signal};
use crate::process::{Exit, Limit, Request, Server};
use std::time::Duration;

/// What to start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Invocation {
    /// Arguments after those that the configuration gives with the program.
    pub args: Vec<String>,
    /// Additional environment variables.
    pub env: Vec<(String, String)>,
    /// The text to write first.
    pub stdin: Vec<u8>,
    /// Whether standard input stays open for more.
    pub duplex: bool,
    /// Whether it prints progress, so that silence counts against the idle limit.
    pub streams: bool,
    /// When to call [`Harness::woken`], unless another time is set before.
    pub wake: Option<Duration>,
}

/// How a process ended.
#[derive(Clone, Debug)]
pub struct End {
    pub exit: Exit,
    /// Why it was stopped, if it was.
    pub stopped: Option<Stopped>,
}

/// Why a process was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The driver asked for it.
    Asked,
    /// A limit was reached.
    Limit(Limit),
    /// The harness asked for it, because nothing more will come.
    Harness,
}

/// What a harness does in response to its input.
#[derive(Debug, Default)]
pub struct Actions {
    /// Signals for the driver, in order.
    pub signals: Vec<Signal>,
    /// Bytes to write to standard input.
    pub write: Vec<u8>,
    /// Whether to close standard input after that.
    pub close: bool,
    /// The server to connect to; its events and responses then arrive as lines.
    pub connect: Option<Server>,
    /// Requests to send to that server.
    pub requests: Vec<Request>,
    /// Whether to stop the process; if it is stopping already, that its own way to stop has finished.
    pub stop: bool,
    /// When to call [`Harness::woken`], in place of the time before; [`Duration::MAX`] for never.
    pub wake: Option<Duration>,
}

/// One launch of a harness. It does no I/O.
pub trait Harness: Send {
    /// What to start.
    fn invocation(&mut self) -> Invocation;

    /// Reads a line of standard output or of the server; `lost` bytes of it were dropped.
    fn line(&mut self, line: &str, lost: u64, to: &mut Actions);

    /// Reads a line of standard error.
    fn error_line(&mut self, line: &str, to: &mut Actions);

    /// Takes the answer to a question.
    fn answer(&mut self, _id: &str, _answer: &Answer, _to: &mut Actions) {}

    /// Called at the time that was set with `wake`.
    fn woken(&mut self, _to: &mut Actions) {}

    /// Tells the agent in `words` that its time is nearly up; `false` if it cannot be told.
    fn wrap_up(&mut self, _words: &str, _to: &mut Actions) -> bool {
        false
    }

    /// Starts the harness's own way to stop; `false` if it has none.
    fn stop(&mut self, _to: &mut Actions) -> bool {
        false
    }

    /// Whether the process is a server that runs until it is stopped, so that SIGTERM is its normal end.
    fn is_server(&self) -> bool {
        false
    }

    /// Whether something is active that may be silent for long, such as a tool call.
    fn busy(&self) -> bool {
        false
    }

    /// Decides the ending. `None` asks for another start, with the [`Harness::invocation`] of that moment.
    fn end(&mut self, end: &End, to: &mut Actions) -> Option<Ending>;
}

/// Whether `name` is safe as an argument: it cannot be read as a flag.
pub fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    let first = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    bytes.next().is_some_and(first) && bytes.all(|b| first(b) || b"._:/-".contains(&b))
}

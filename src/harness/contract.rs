//! What a harness is: what it starts, and how what comes back is read.

use super::signal::{Answer, Ending, Signal};
use crate::process::{Exit, Limit, Request, Server};
use std::time::Duration;

/// What a harness has started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Invocation {
    /// Arguments, after those that the configuration gives with the program.
    pub args: Vec<String>,
    /// Variables beside the inherited ones.
    pub env: Vec<(String, String)>,
    /// What is written first.
    pub stdin: Vec<u8>,
    /// Whether standard input stays open for more.
    pub duplex: bool,
    /// Whether it says what it does while it does it, so that silence is a sign.
    pub streams: bool,
    /// When the harness wants to be woken, unless it asks for another time before.
    pub wake: Option<Duration>,
}

/// How a process came to its end, and what it left to be told.
#[derive(Clone, Debug)]
pub struct End {
    /// How it ended.
    pub exit: Exit,
    /// Why it was stopped, where it was.
    pub stopped: Option<Stopped>,
}

/// Why a process was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The driver asked for it.
    Asked,
    /// A limit was reached.
    Limit(Limit),
    /// The harness asked for it, since nothing more is to be expected.
    Harness,
}

/// What a harness does in answer to what it reads.
#[derive(Debug, Default)]
pub struct Actions {
    /// To be told to the driver, in order.
    pub signals: Vec<Signal>,
    /// To be written to a duplex process.
    pub write: Vec<u8>,
    /// Whether its standard input ends, once that is written.
    pub close: bool,
    /// Where it serves, as it says: its events and its answers are lines from then on.
    pub connect: Option<Server>,
    /// To be asked of what it serves.
    pub requests: Vec<Request>,
    /// Whether it is stopped; where it is being stopped already, that its own way has come to its end.
    pub stop: bool,
    /// When the harness wants to be woken, in place of what it asked for before; [`Duration::MAX`] for never.
    pub wake: Option<Duration>,
}

/// One launch of a harness: what it starts, and how what comes back is read. It does no I/O.
pub trait Harness: Send {
    /// What is to be started.
    fn invocation(&mut self) -> Invocation;

    /// Reads a line of standard output, or of what it serves; `lost` bytes of it were dropped.
    fn line(&mut self, line: &str, lost: u64, to: &mut Actions);

    /// Reads a line of standard error.
    fn error_line(&mut self, line: &str, to: &mut Actions);

    /// Takes an answer to a question.
    fn answer(&mut self, _id: &str, _answer: &Answer, _to: &mut Actions) {}

    /// The time that it asked to be woken at has come.
    fn woken(&mut self, _to: &mut Actions) {}

    /// Tells it that its time is nearly up, in words for it; `false` where it cannot be told.
    fn wrap_up(&mut self, _words: &str, _to: &mut Actions) -> bool {
        false
    }

    /// Begins to stop it in its own way; `false` where it has none.
    fn stop(&mut self, _to: &mut Actions) -> bool {
        false
    }

    /// Whether it lives until it is ended, so that TERM is as good an end as any.
    fn is_server(&self) -> bool {
        false
    }

    /// Whether something is under way that may well be silent.
    fn busy(&self) -> bool {
        false
    }

    /// Reads the end. `None` asks for another start, with what [`Harness::invocation`] then says.
    fn end(&mut self, end: &End, to: &mut Actions) -> Option<Ending>;
}

/// Whether `name` can stand in an argument: none reads as a flag, or as more than a name.
pub fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    let first = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    bytes.next().is_some_and(first) && bytes.all(|b| first(b) || b"._:/-".contains(&b))
}

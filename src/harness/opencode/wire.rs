//! The lines of OpenCode, as far as they are read: those of one run, and the events and answers of its server.

use crate::harness::lenient_fields::{Number, Object, Text};
use serde::Deserialize;
use serde_json::Value;

/// A line of one run, or an event of the server, or an answer of it as we put it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Line<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    /// One run: the session, what is told of, and what went wrong.
    #[serde(borrow, rename = "sessionID")]
    pub session: Text<'a>,
    #[serde(borrow)]
    pub part: Object<Part<'a>>,
    pub error: Value,
    /// The server's event.
    #[serde(borrow)]
    pub properties: Object<Properties<'a>>,
    /// The answer to a request of ours.
    #[serde(borrow)]
    pub superpower: Object<Told<'a>>,
}

/// What an event of the server tells.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Properties<'a> {
    #[serde(borrow, rename = "sessionID")]
    pub session: Text<'a>,
    /// `message.part.updated`.
    #[serde(borrow)]
    pub part: Object<Part<'a>>,
    /// `message.part.delta`.
    #[serde(borrow, rename = "partID")]
    pub part_id: Text<'a>,
    #[serde(borrow)]
    pub field: Text<'a>,
    #[serde(borrow)]
    pub delta: Text<'a>,
    /// `message.updated`, `session.created`.
    #[serde(borrow)]
    pub info: Object<Info<'a>>,
    /// `session.status`.
    #[serde(borrow)]
    pub status: Object<Status<'a>>,
    /// `session.error`.
    pub error: Value,
    /// `todo.updated`.
    pub todos: Value,
    /// `permission.asked`, `question.asked`.
    #[serde(borrow)]
    pub id: Text<'a>,
    #[serde(borrow)]
    pub permission: Text<'a>,
    pub patterns: Value,
    pub metadata: Value,
    pub questions: Value,
    /// `permission.replied`.
    #[serde(borrow, rename = "requestID")]
    pub request: Text<'a>,
}

impl Properties<'_> {
    /// Whose it is: releases before 1.3 say so only of the message or the part that is told of.
    pub fn session(&self) -> &str {
        let part = self.part.get().map(|part| part.session.str());
        let info = self.info.get().map(|info| info.session.str());
        let mut all = [Some(self.session.str()), part, info].into_iter().flatten();
        all.find(|session| !session.is_empty()).unwrap_or_default()
    }
}

/// A message, or a session.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Info<'a> {
    #[serde(borrow)]
    pub id: Text<'a>,
    #[serde(borrow, rename = "sessionID")]
    pub session: Text<'a>,
    #[serde(borrow)]
    pub role: Text<'a>,
    #[serde(borrow, rename = "parentID")]
    pub parent: Text<'a>,
    /// Of an agent's message: whether it sums up the conversation, to make room.
    pub summary: Value,
}

/// What a session is at.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Status<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    pub attempt: Number,
    #[serde(borrow)]
    pub message: Text<'a>,
    pub next: Number,
}

/// An answer to a request, or the end of the events.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Told<'a> {
    #[serde(borrow)]
    pub answer: Text<'a>,
    pub status: Number,
    pub body: Value,
    #[serde(borrow)]
    pub error: Text<'a>,
    pub lost: Number,
}

/// A part of an answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Part<'a> {
    #[serde(borrow)]
    pub id: Text<'a>,
    #[serde(borrow, rename = "sessionID")]
    pub session: Text<'a>,
    #[serde(borrow, rename = "messageID")]
    pub message: Text<'a>,
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    pub time: Object<Time>,
    #[serde(borrow)]
    pub text: Text<'a>,
    #[serde(borrow)]
    pub tool: Text<'a>,
    #[serde(borrow, rename = "callID")]
    pub call: Text<'a>,
    #[serde(borrow)]
    pub state: Object<State<'a>>,
    #[serde(borrow)]
    pub reason: Text<'a>,
    pub tokens: Object<Tokens>,
    pub cost: Number,
}

/// How far a tool call is.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct State<'a> {
    #[serde(borrow)]
    pub metadata: Object<Metadata<'a>>,
    #[serde(borrow)]
    pub status: Text<'a>,
    pub input: Value,
    pub time: Object<Time>,
    #[serde(borrow)]
    pub error: Text<'a>,
}

/// What a step used.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Tokens {
    pub input: Number,
    pub output: Number,
    pub reasoning: Number,
    pub cache: Object<Cache>,
}

/// Caches' part of it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Cache {
    pub read: Number,
    pub write: Number,
}

impl Tokens {
    /// All of them.
    pub fn sum(&self) -> u64 {
        let cache = self.cache.get().map_or(0, |cache| cache.read.count() + cache.write.count());
        self.input.count() + self.output.count() + self.reasoning.count() + cache
    }
}

/// When a part began and ended.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Time {
    pub end: Number,
    /// When its output was dropped, to make room.
    pub compacted: Number,
}

/// What a tool says of its call.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Metadata<'a> {
    /// A subagent's session.
    #[serde(borrow, rename = "sessionId")]
    pub session: Text<'a>,
}

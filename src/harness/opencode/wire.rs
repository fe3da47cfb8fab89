//! The lines of OpenCode with the fields that are used: of `opencode run`, and its server's events and responses.

use crate::harness::lenient_fields::{Number, Object, Text};
use serde::Deserialize;
use serde_json::Value;

/// A line of `opencode run`, an event of the server, or a response in our own format.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Line<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    /// `opencode run`: the session, the part and the error.
    #[serde(borrow, rename = "sessionID")]
    pub session: Text<'a>,
    #[serde(borrow)]
    pub part: Object<Part<'a>>,
    pub error: Value,
    /// The server's event.
    #[serde(borrow)]
    pub properties: Object<Properties<'a>>,
    /// The response to our request.
    #[serde(borrow)]
    pub superpower: Object<Response<'a>>,
}

/// The properties of a server's event.
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
    /// The event's session; releases before 1.3 name it only in the message or the part.
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
    /// For an agent's message: set if it summarizes the conversation to save space.
    pub summary: Value,
}

/// A session's status.
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

/// The response to a request, or the end of the events.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Response<'a> {
    #[serde(borrow)]
    pub answer: Text<'a>,
    pub status: Number,
    pub body: Value,
    #[serde(borrow)]
    pub error: Text<'a>,
    pub lost: Number,
}

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

/// The state of a tool call.
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

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Tokens {
    pub input: Number,
    pub output: Number,
    pub reasoning: Number,
    pub cache: Object<Cache>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Cache {
    pub read: Number,
    pub write: Number,
}

impl Tokens {
    pub fn sum(&self) -> u64 {
        let cache = self.cache.get().map_or(0, |cache| cache.read.count() + cache.write.count());
        self.input.count() + self.output.count() + self.reasoning.count() + cache
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Time {
    pub end: Number,
    /// When the output was dropped to save space.
    pub compacted: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Metadata<'a> {
    /// A subagent's session.
    #[serde(borrow, rename = "sessionId")]
    pub session: Text<'a>,
}

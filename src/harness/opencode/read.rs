//! The lines that OpenCode prints: each a part of the answer, whole.

use crate::harness::limit::{self, Trouble};
use crate::harness::loose::{Number, Object, Text};
use crate::harness::tail::Tail;
use crate::harness::words::first_line;
use crate::harness::{Progress, Signal, TodoItem, tool};
use crate::outcome::{Outcome, Session, Usage};
use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::Value;
use std::path::PathBuf;

/// How much of it the next attempt is told.
const TAIL: usize = 4096;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow, rename = "sessionID")]
    session: Text<'a>,
    #[serde(borrow)]
    part: Object<Part<'a>>,
    error: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Part<'a> {
    #[serde(borrow)]
    text: Text<'a>,
    #[serde(borrow)]
    tool: Text<'a>,
    #[serde(borrow, rename = "callID")]
    call: Text<'a>,
    #[serde(borrow)]
    state: Object<State<'a>>,
    #[serde(borrow)]
    reason: Text<'a>,
    tokens: Object<Tokens>,
    cost: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct State<'a> {
    #[serde(borrow)]
    status: Text<'a>,
    input: Value,
    #[serde(borrow)]
    error: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Tokens {
    input: Number,
    output: Number,
    reasoning: Number,
    cache: Object<Cache>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Cache {
    read: Number,
    write: Number,
}

impl Tokens {
    fn sum(&self) -> u64 {
        let cache = self.cache.get().map_or(0, |cache| cache.read.count() + cache.write.count());
        self.input.count() + self.output.count() + self.reasoning.count() + cache
    }
}

/// The last that was seen which says how it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Last {
    /// No event yet.
    Nothing,
    /// A step has begun.
    Open,
    /// A step ended to go on with tools.
    Tools,
    /// A step ended for no reason that it knows: its stream was cut.
    Unknown,
    /// A step ended, and with it the answer.
    Good,
    /// An error.
    Error(Failure),
}

/// An error event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    name: String,
    message: String,
    status: Option<u16>,
    retryable: bool,
    retry_after: Option<String>,
}

impl Failure {
    fn of(error: &Value) -> Self {
        let data = &error["data"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Self {
            name: text(&error["name"]),
            message: first_line(&text(&data["message"])),
            status: data["statusCode"].as_u64().map(|status| status as u16),
            retryable: data["isRetryable"].as_bool().unwrap_or(false),
            retry_after: data["responseHeaders"]["retry-after"].as_str().map(|s| format!("retry-after: {s}")),
        }
    }

    /// What it means.
    pub fn outcome(&self, now: DateTime<Utc>) -> Outcome {
        let status = self.status.map_or_else(String::new, |status| format!(" ({status})"));
        let why = format!("{}{status}", if self.message.is_empty() { &self.name } else { &self.message });
        let worded = limit::trouble(&self.message);
        let trouble = match self.status {
            Some(401 | 403) => Trouble::Auth,
            Some(402 | 429) => Trouble::Limit,
            Some(400) if worded == Trouble::Limit => Trouble::Limit,
            Some(408 | 500..) => Trouble::Passing,
            Some(_) => Trouble::Other,
            None if self.name == "ProviderAuthError" => Trouble::Auth,
            None if self.retryable && worded == Trouble::Other => Trouble::Passing,
            None => worded,
        };
        match trouble {
            Trouble::Auth => Outcome::Auth { why },
            Trouble::Limit => {
                let until = self.retry_after.as_deref().and_then(|text| limit::over_at(text, now));
                limit::limited(&why, until, now)
            }
            Trouble::Passing => Outcome::Transient { why },
            Trouble::Other => Outcome::Failed { why },
        }
    }
}

/// What has been read so far.
pub struct Reader {
    root: PathBuf,
    session: bool,
    /// How it stands.
    pub last: Last,
    /// Steps in a row whose stream was cut.
    pub cuts: u32,
    /// What was used so far.
    pub usage: Usage,
    /// Permissions that it refused by itself, as it says on standard error.
    refused: Vec<String>,
    /// The same, as tools fail by it.
    rejected: Vec<String>,
    /// The texts of the last step that had any.
    texts: Vec<String>,
    fresh: bool,
    /// The end of what happened.
    pub tail: Tail,
    /// The end of what it wrote to standard error.
    pub errors: Tail,
}

impl Reader {
    /// Nothing read yet.
    pub fn new(root: PathBuf) -> Self {
        Self {
            root,
            session: false,
            last: Last::Nothing,
            cuts: 0,
            usage: Usage::default(),
            refused: Vec::new(),
            rejected: Vec::new(),
            texts: Vec::new(),
            fresh: true,
            tail: Tail::new(TAIL),
            errors: Tail::new(TAIL),
        }
    }

    /// Permissions that it refused by itself.
    pub fn refusals(&self) -> &[String] {
        if self.refused.is_empty() { &self.rejected } else { &self.refused }
    }

    /// The final message.
    pub fn message(&self) -> String {
        self.texts.join("\n")
    }

    /// Reads a line of standard error, without escapes.
    pub fn error_line(&mut self, line: &str) {
        self.errors.line(line);
        self.tail.line(line);
        let asked = line.trim_start_matches(['!', ' ']).strip_prefix("permission requested: ");
        if let Some(what) = asked.and_then(|rest| rest.split("; auto-rejecting").next()) {
            self.refused.push(what.to_owned());
        }
    }

    /// Reads a line of standard output.
    pub fn line(&mut self, text: &str, to: &mut Vec<Signal>) {
        let Ok(line) = serde_json::from_str::<Line<'_>>(text) else {
            return self.tail.line(text.get(..400).unwrap_or(text));
        };
        if !self.session && !line.session.str().is_empty() {
            self.session = true;
            let id = line.session.str().to_owned();
            to.push(Signal::Session(Session { harness: super::NAME.to_owned(), id }));
        }
        let nothing = Part::default();
        let part = line.part.get().unwrap_or(&nothing);
        match line.kind.str() {
            "step_start" => (self.last, self.fresh) = (Last::Open, true),
            "text" => {
                if std::mem::take(&mut self.fresh) {
                    self.texts.clear();
                }
                self.texts.push(part.text.str().to_owned());
                self.tail.line(part.text.str());
                to.push(Signal::Progress(Progress::Text { text: format!("{}\n", part.text.str()) }));
            }
            "tool_use" => self.tool(part, to),
            "step_finish" => self.step(part, to),
            "error" => {
                let failure = Failure::of(&line.error);
                self.tail.line(&format!("[{}: {}]", failure.name, failure.message));
                self.last = Last::Error(failure);
            }
            _ => {}
        }
    }

    fn tool(&mut self, part: &Part<'_>, to: &mut Vec<Signal>) {
        let Some(state) = part.state.get() else { return };
        let (name, failed) = (part.tool.str(), state.status.str() == "error");
        let title = tool::title(name, &state.input, &self.root);
        self.tail.line(&if failed {
            format!("[{title}: {}]", first_line(state.error.str()))
        } else {
            format!("[{title}]")
        });
        if failed && state.error.str().contains("rejected permission") {
            self.rejected.push(title.clone());
        }
        to.push(Signal::Progress(Progress::Tool {
            id: part.call.str().to_owned(),
            title,
            status: if failed { "failed" } else { "done" }.to_owned(),
            parent: None,
            files: if failed { Vec::new() } else { tool::files(name, &state.input, &self.root) },
        }));
        if let Some(todos) = state.input.get("todos").and_then(Value::as_array) {
            let field = |item: &Value, key: &str| {
                item.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
            };
            let item =
                |item: &Value| TodoItem { text: field(item, "content"), status: field(item, "status") };
            to.push(Signal::Progress(Progress::Todo { items: todos.iter().map(item).collect() }));
        }
    }

    fn step(&mut self, part: &Part<'_>, to: &mut Vec<Signal>) {
        self.last = match part.reason.str() {
            "stop" => Last::Good,
            "unknown" => Last::Unknown,
            _ => Last::Tools,
        };
        self.cuts = if self.last == Last::Unknown { self.cuts + 1 } else { 0 };
        if let Some(tokens) = part.tokens.get() {
            self.usage.tokens = Some(self.usage.tokens.unwrap_or_default() + tokens.sum());
        }
        if let Some(cost) = part.cost.0 {
            self.usage.cost = Some(self.usage.cost.unwrap_or_default() + cost);
        }
        to.push(Signal::Progress(Progress::Usage { usage: self.usage.clone() }));
    }
}

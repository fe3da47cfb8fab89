//! The state of an OpenCode launch, served or not: texts, tool calls, usage, and the last event that matters.

use super::wire::{Line, Part};
use crate::harness::end_text::{first_line, note, too_long};
use crate::harness::events::{self, Rest, Unread};
use crate::harness::provider_errors::{self, Trouble};
use crate::harness::tail::Tail;
use crate::harness::{Progress, Signal, TodoItem, tool};
use crate::outcome::{Outcome, Session, Usage};
use crate::process::Secrets;
use chrono::{DateTime, Utc};
use serde_json::Value;
use std::path::PathBuf;

/// How much of the output goes into the next attempt's prompt, in bytes.
const TAIL: usize = 4096;

/// The last event that matters for the outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Last {
    /// No event yet.
    Nothing,
    Open,
    /// A step ended with tool calls.
    Tools,
    /// A step ended for an unknown reason, which means that its stream was cut.
    Unknown,
    /// A step ended with the complete answer.
    Good,
    /// A step ended early, for this reason.
    Short(String),
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
    /// Reads the error of an event.
    pub fn of(error: &Value) -> Self {
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

    /// The message, or else the name.
    pub fn message(&self) -> &str {
        if self.message.is_empty() { &self.name } else { &self.message }
    }

    /// The outcome of a launch that ends with this error.
    pub fn outcome(&self, now: DateTime<Utc>) -> Outcome {
        let status = self.status.map_or_else(String::new, |status| format!(" ({status})"));
        let why = format!("{}{status}", self.message());
        let worded = provider_errors::trouble(&self.message);
        let trouble = match self.status {
            // Their texts mention limits, but waiting does not help.
            _ if ["ContextOverflowError", "MessageOutputLengthError"].contains(&&*self.name) => {
                Trouble::Other
            }
            Some(401 | 403) => Trouble::Auth,
            Some(402 | 429) => Trouble::Limit,
            Some(400) if worded == Trouble::Limit => Trouble::Limit,
            Some(408 | 500..) => Trouble::Transient,
            Some(_) => Trouble::Other,
            None if self.name == "ProviderAuthError" => Trouble::Auth,
            None if self.retryable && worded == Trouble::Other => Trouble::Transient,
            None => worded,
        };
        match trouble {
            Trouble::Auth => Outcome::Auth { why },
            Trouble::Limit => {
                let until = self.retry_after.as_deref().and_then(|text| provider_errors::over_at(text, now));
                provider_errors::limited(&why, until, now)
            }
            Trouble::Transient => Outcome::Transient { why },
            Trouble::Other => Outcome::Failed { why },
        }
    }
}

pub struct Reader {
    root: PathBuf,
    session: bool,
    /// The last event that matters.
    pub last: Last,
    /// Number of consecutive steps with a cut stream.
    pub cuts: u32,
    /// Usage so far.
    pub usage: Usage,
    /// Permissions that OpenCode refused itself, from standard error.
    refused: Vec<String>,
    /// The same, from the errors of tool calls.
    rejected: Vec<String>,
    /// The texts of the last step with any.
    texts: Vec<String>,
    fresh: bool,
    /// The outcome if an unreadable event may have been the final one.
    pub damaged: Option<Outcome>,
    pub tail: Tail,
    /// The end of standard error.
    pub errors: Tail,
}

impl Reader {
    pub fn new(root: PathBuf, secrets: &Secrets) -> Self {
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
            damaged: None,
            tail: Tail::new(TAIL, secrets),
            errors: Tail::new(TAIL, secrets),
        }
    }

    /// Permissions that OpenCode refused itself.
    pub fn refusals(&self) -> &[String] {
        if self.refused.is_empty() { &self.rejected } else { &self.refused }
    }

    /// The final message.
    pub fn message(&self) -> String {
        self.texts.join("\n")
    }

    /// Handles a line of standard error, without escape sequences.
    pub fn error_line(&mut self, line: &str) {
        self.errors.line(line);
        self.tail.line(line);
        let asked = line.trim_start_matches(['!', ' ']).strip_prefix("permission requested: ");
        if let Some(what) = asked.and_then(|rest| rest.split("; auto-rejecting").next()) {
            self.refused.push(what.to_owned());
        }
    }

    /// Handles a line of standard output; `long` if it was cut.
    pub fn line(&mut self, text: &str, long: bool, to: &mut Vec<Signal>) {
        if long {
            return events::unread(text, "too long").into_iter().for_each(|it| self.unread(&it, true, to));
        }
        let event = |json: &str| match serde_json::from_str::<Line<'_>>(json) {
            Ok(line) => {
                self.event(&line, to);
                true
            }
            Err(_) => false,
        };
        match events::read(text, event) {
            Rest::Nothing => {}
            Rest::Unread(unread) => self.unread(&unread, false, to),
            Rest::Text => self.tail.begin(text, 400),
        }
    }

    /// Reports an unreadable event once, and remembers that it may have been the final one.
    pub fn unread(&mut self, unread: &Unread, long: bool, to: &mut Vec<Signal>) {
        let why = format!("cannot read a line of OpenCode ({})", unread.why);
        self.tail.line(&format!("[{why}]"));
        if self.damaged.is_none() && !long {
            to.push(note(why.clone()));
        }
        // Long output of a tool does not matter.
        let tool = matches!(&*unread.kind, "tool_use" | "reasoning" | "step_start");
        if !long {
            self.damaged.get_or_insert(Outcome::Failed { why });
        } else if !tool {
            self.damaged = Some(too_long("the answer"));
        }
    }

    fn event(&mut self, line: &Line<'_>, to: &mut Vec<Signal>) {
        if !self.session && !line.session.str().is_empty() {
            self.session = true;
            let id = line.session.str().to_owned();
            to.push(Signal::Session(Session { harness: super::names::NAME.to_owned(), id }));
        }
        let nothing = Part::default();
        let part = line.part.get().unwrap_or(&nothing);
        match line.kind.str() {
            "step_start" => self.begun(),
            "text" => {
                self.text(part.text.str());
                to.push(Signal::Progress(Progress::Text { text: format!("{}\n", part.text.str()) }));
            }
            "tool_use" => self.tool(part, None, to),
            "step_finish" => self.step(part, to),
            "error" => self.failed(Failure::of(&line.error)),
            _ => {}
        }
    }

    pub fn begun(&mut self) {
        (self.last, self.fresh) = (Last::Open, true);
    }

    /// A complete text.
    pub fn text(&mut self, text: &str) {
        if std::mem::take(&mut self.fresh) {
            self.texts.clear();
        }
        self.texts.push(text.to_owned());
        self.tail.line(text);
    }

    /// Keeps the first error, because later ones say less.
    pub fn failed_first(&mut self, failure: Failure) {
        if !matches!(self.last, Last::Error(_)) {
            self.failed(failure);
        }
    }

    /// An error that ends the answer.
    pub fn failed(&mut self, failure: Failure) {
        self.tail.line(&format!("[{}: {}]", failure.name, failure.message));
        self.last = Last::Error(failure);
    }

    /// A finished tool call; `parent` is set for a subagent's.
    pub fn tool(&mut self, part: &Part<'_>, parent: Option<&str>, to: &mut Vec<Signal>) {
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
            parent: parent.map(ToOwned::to_owned),
            files: if failed { Vec::new() } else { tool::files(name, &state.input, &self.root) },
        }));
        // A subagent's to-do list is not shown.
        if let Some(todos) = state.input.get("todos").and_then(Value::as_array).filter(|_| parent.is_none()) {
            to.push(todo(todos));
        }
    }

    /// Adds the usage of a step, of a subagent too.
    pub fn used(&mut self, part: &Part<'_>, to: &mut Vec<Signal>) {
        if let Some(tokens) = part.tokens.get() {
            self.usage.tokens = Some(self.usage.tokens.unwrap_or_default().saturating_add(tokens.sum()));
        }
        // A cost of 0 means that the price is unknown.
        if let Some(cost) = part.cost.amount().filter(|cost| *cost > 0.0) {
            self.usage.cost = Some(self.usage.cost.unwrap_or_default() + cost);
        }
        to.push(Signal::Progress(Progress::Usage { usage: self.usage.clone() }));
    }

    /// A step ended.
    pub fn step(&mut self, part: &Part<'_>, to: &mut Vec<Signal>) {
        self.last = match part.reason.str() {
            "stop" => Last::Good,
            "unknown" => Last::Unknown,
            "tool-calls" | "" => Last::Tools,
            reason => Last::Short(reason.to_owned()),
        };
        self.cuts = if self.last == Last::Unknown { self.cuts + 1 } else { 0 };
        self.used(part, to);
    }
}

/// The to-do list from its tool's input.
pub fn todo(todos: &[Value]) -> Signal {
    let field =
        |item: &Value, key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let item = |item: &Value| TodoItem { text: field(item, "content"), status: field(item, "status") };
    Signal::Progress(Progress::Todo { items: todos.iter().map(item).collect() })
}

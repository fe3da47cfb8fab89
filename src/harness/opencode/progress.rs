//! What OpenCode has told so far, whichever way: texts, tool calls, what was used, and how it stands.

use super::wire::{Line, Part};
use crate::harness::end_text::{first_line, note, too_long};
use crate::harness::events::{self, Unread};
use crate::harness::provider_errors::{self, Trouble};
use crate::harness::tail::Tail;
use crate::harness::{Progress, Signal, TodoItem, tool};
use crate::outcome::{Outcome, Session, Usage};
use crate::process::Secrets;
use chrono::{DateTime, Utc};
use serde_json::Value;
use std::path::PathBuf;

/// How much of it the next attempt is told.
const TAIL: usize = 4096;

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
    /// A step ended, for this reason, before the answer was whole.
    Short(String),
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
    /// As an error event tells it.
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

    /// Its words.
    pub fn message(&self) -> &str {
        if self.message.is_empty() { &self.name } else { &self.message }
    }

    /// What it means.
    pub fn outcome(&self, now: DateTime<Utc>) -> Outcome {
        let status = self.status.map_or_else(String::new, |status| format!(" ({status})"));
        let why = format!("{}{status}", self.message());
        let worded = provider_errors::trouble(&self.message);
        let trouble = match self.status {
            // Their words speak of limits, and no time mends them.
            _ if ["ContextOverflowError", "MessageOutputLengthError"].contains(&&*self.name) => {
                Trouble::Other
            }
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
                let until = self.retry_after.as_deref().and_then(|text| provider_errors::over_at(text, now));
                provider_errors::limited(&why, until, now)
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
    /// What becomes of it for an event that could not be read, and may have been what decides.
    pub damaged: Option<Outcome>,
    /// The end of what happened.
    pub tail: Tail,
    /// The end of what it wrote to standard error.
    pub errors: Tail,
}

impl Reader {
    /// Nothing read yet.
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

    /// Reads a line of standard output; one that was cut where it is `long`.
    pub fn line(&mut self, text: &str, long: bool, to: &mut Vec<Signal>) {
        if long {
            return events::unread(text, "it is too long")
                .into_iter()
                .for_each(|it| self.unread(&it, true, to));
        }
        if let Ok(line) = serde_json::from_str::<Line<'_>>(text) {
            return self.event(&line, to);
        }
        let heard = events::heard(text);
        for json in &heard.events {
            if let Ok(line) = serde_json::from_str::<Line<'_>>(json) {
                self.event(&line, to);
            }
        }
        match heard.unread {
            Some(unread) => self.unread(&unread, false, to),
            None if heard.events.is_empty() => self.tail.begin(text, 400),
            None => {}
        }
    }

    /// An event that cannot be read is named, once; what it may have decided is then open.
    pub fn unread(&mut self, unread: &Unread, long: bool, to: &mut Vec<Signal>) {
        let why = format!("a line of OpenCode cannot be read ({})", unread.why);
        self.tail.line(&format!("[{why}]"));
        if self.damaged.is_none() && !long {
            to.push(note(why.clone()));
        }
        // A tool's output may be as long as it likes.
        let tool = matches!(&*unread.kind, "tool_use" | "reasoning" | "step_start");
        if !long {
            self.damaged.get_or_insert(Outcome::Failed { why });
        } else if !tool {
            self.damaged = Some(too_long("its answer"));
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

    /// A step begins.
    pub fn begun(&mut self) {
        (self.last, self.fresh) = (Last::Open, true);
    }

    /// A text, whole.
    pub fn text(&mut self, text: &str) {
        if std::mem::take(&mut self.fresh) {
            self.texts.clear();
        }
        self.texts.push(text.to_owned());
        self.tail.line(text);
    }

    /// The first word of what went wrong: what follows it says less.
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

    /// A tool call that is over; of a subagent where `parent` is given.
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
        // A subagent's list is of its own work.
        if let Some(todos) = state.input.get("todos").and_then(Value::as_array).filter(|_| parent.is_none()) {
            to.push(todo(todos));
        }
    }

    /// What a step used, whoever made it.
    pub fn used(&mut self, part: &Part<'_>, to: &mut Vec<Signal>) {
        if let Some(tokens) = part.tokens.get() {
            self.usage.tokens = Some(self.usage.tokens.unwrap_or_default().saturating_add(tokens.sum()));
        }
        // It says 0 where it knows no price.
        if let Some(cost) = part.cost.amount().filter(|cost| *cost > 0.0) {
            self.usage.cost = Some(self.usage.cost.unwrap_or_default() + cost);
        }
        to.push(Signal::Progress(Progress::Usage { usage: self.usage.clone() }));
    }

    /// A step is over.
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

/// The to-do list, as its tool is given it.
pub fn todo(todos: &[Value]) -> Signal {
    let field =
        |item: &Value, key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let item = |item: &Value| TodoItem { text: field(item, "content"), status: field(item, "status") };
    Signal::Progress(Progress::Todo { items: todos.iter().map(item).collect() })
}

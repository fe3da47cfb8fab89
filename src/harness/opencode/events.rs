//! Reads the events of OpenCode's server: text, tool calls, subagents, to-do list, usage, retries.

use super::progress::{Failure, Reader, todo};
use super::wire::{Info, Line, Part, Properties, State, Status};
use crate::harness::end_text::{first_line, note};
use crate::harness::provider_errors;
use crate::harness::{Calls, Progress, Signal, tool};
use crate::process::Secrets;
use chrono::{DateTime, Utc};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The state that the events so far add up to.
pub struct Watch {
    root: PathBuf,
    /// Our session's id; subagents have sessions of their own.
    pub session: String,
    pub reader: Reader,
    /// Ids of the agent's messages; the others are from us.
    messages: BTreeSet<String>,
    /// Open text parts, and whether some of each was streamed.
    texts: BTreeMap<String, bool>,
    /// The id of the last finished text part, which may be reported again.
    over: String,
    /// Open tool calls.
    open: Calls<()>,
    /// The call that started a subagent, by the subagent's session.
    subagents: BTreeMap<String, String>,
    /// Whether it waits for a retry at a known time.
    pub retrying: bool,
}

/// What an event means for the session.
#[derive(Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Nothing.
    None,
    /// Something is active.
    Working,
    /// The session is idle.
    Idle,
    /// It failed; idle usually follows.
    Failed,
    /// It retries at that time, for that reason; the number counts the retries.
    Retries(Option<DateTime<Utc>>, String, u64),
}

impl Watch {
    pub fn new(root: PathBuf, secrets: &Secrets) -> Self {
        Self {
            reader: Reader::new(root.clone(), secrets),
            root,
            session: String::new(),
            messages: BTreeSet::new(),
            texts: BTreeMap::new(),
            over: String::new(),
            open: Calls::default(),
            subagents: BTreeMap::new(),
            retrying: false,
        }
    }

    /// Whether a tool call is open, or a retry is waited for.
    pub fn busy(&self) -> bool {
        self.retrying || !self.open.is_empty()
    }

    /// Handles an event.
    pub fn event(&mut self, line: &Line<'_>, to: &mut Vec<Signal>) -> Meaning {
        let nothing = Properties::default();
        let event = line.properties.get().unwrap_or(&nothing);
        let ours = event.session() == self.session;
        match line.kind.str() {
            "message.updated" => {
                let agents = |info: &&Info<'_>| info.role.str() == "assistant" && info.summary != true;
                if let Some(info) = event.info.get().filter(|info| ours && agents(info)) {
                    self.messages.insert(info.id.str().to_owned());
                }
                Meaning::None
            }
            "message.part.updated" => event.part.get().map_or(Meaning::None, |part| {
                if ours { self.part(part, to) } else { self.part_of_subagent(event.session(), part, to) }
            }),
            "message.part.delta" if event.field.str() == "text" => {
                if let Some(shown) = self.texts.get_mut(event.part_id.str()) {
                    *shown = true;
                    to.push(Signal::Progress(Progress::Text { text: event.delta.str().to_owned() }));
                }
                Meaning::None
            }
            "todo.updated" if ours => {
                to.extend(event.todos.as_array().map(|todos| todo(todos)));
                Meaning::None
            }
            "session.status" => match event.status.get() {
                Some(status) if ours => self.status(status, to),
                Some(status) if status.kind.str() == "retry" => self.retry(status, to),
                _ => Meaning::None,
            },
            "session.idle" if ours => self.idle(),
            "session.compacted" if ours => {
                to.push(note("the agent's conversation was summarized to save space"));
                Meaning::None
            }
            "session.error" if ours => {
                self.reader.failed_first(Failure::of(&event.error));
                Meaning::Failed
            }
            // An error of a skill or a plugin; the session continues.
            "session.error" if event.session().is_empty() => {
                self.reader.error_line(Failure::of(&event.error).message());
                Meaning::None
            }
            _ => Meaning::None,
        }
    }

    fn idle(&mut self) -> Meaning {
        self.retrying = false;
        self.open.clear();
        Meaning::Idle
    }

    fn status(&mut self, status: &Status<'_>, to: &mut Vec<Signal>) -> Meaning {
        match status.kind.str() {
            "idle" => self.idle(),
            "retry" => {
                self.retrying = true;
                self.retry(status, to)
            }
            _ => {
                self.retrying = false;
                Meaning::Working
            }
        }
    }

    fn retry(&mut self, status: &Status<'_>, to: &mut Vec<Signal>) -> Meaning {
        let until = status.next.0.and_then(provider_errors::since_1970);
        let left = until.map_or(0, |until| (until - Utc::now()).num_seconds().max(0) + 1);
        let why = first_line(status.message.str());
        let text = format!("{why}, retry {} in {left}s", status.attempt.count());
        self.reader.tail.line(&format!("[{text}]"));
        to.push(Signal::Progress(Progress::Waiting { text }));
        Meaning::Retries(until, why, status.attempt.count())
    }

    fn part(&mut self, part: &Part<'_>, to: &mut Vec<Signal>) -> Meaning {
        match part.kind.str() {
            "step-start" => {
                self.reader.begun();
                self.retrying = false;
                return Meaning::Working;
            }
            "step-finish" => self.reader.step(part, to),
            "text" if self.messages.contains(part.message.str()) => self.text(part, to),
            "tool" => self.tool(part, None, to),
            _ => {}
        }
        Meaning::None
    }

    fn part_of_subagent(&mut self, session: &str, part: &Part<'_>, to: &mut Vec<Signal>) -> Meaning {
        match part.kind.str() {
            "step-finish" => self.reader.used(part, to),
            "tool" => {
                let call = self.subagents.get(session).cloned();
                self.tool(part, Some(call.as_deref().unwrap_or(session)), to);
            }
            _ => {}
        }
        Meaning::None
    }

    fn text(&mut self, part: &Part<'_>, to: &mut Vec<Signal>) {
        let id = part.id.str();
        if part.time.get().is_none_or(|time| time.end.0.is_none()) {
            self.texts.entry(id.to_owned()).or_default();
            return;
        }
        let shown = self.texts.remove(id).unwrap_or(false);
        if std::mem::replace(&mut self.over, id.to_owned()) == id {
            return;
        }
        self.reader.text(part.text.str());
        let text = if shown { "\n".to_owned() } else { format!("{}\n", part.text.str()) };
        to.push(Signal::Progress(Progress::Text { text }));
    }

    fn tool(&mut self, part: &Part<'_>, parent: Option<&str>, to: &mut Vec<Signal>) {
        // A call is reported again when its output is dropped to save space, long after its end.
        let dropped = |state: &&State<'_>| state.time.get().is_some_and(|time| time.compacted.0.is_some());
        let Some(state) = part.state.get().filter(|state| !dropped(state)) else { return };
        let call = part.call.str();
        let subagent = state.metadata.get().map_or("", |metadata| metadata.session.str());
        if parent.is_none() && !subagent.is_empty() {
            self.subagents.insert(subagent.to_owned(), call.to_owned());
        }
        match state.status.str() {
            // It is reported again with each piece of output.
            "running" if self.open.get(call).is_none() => {
                self.open.open(call, ());
                to.push(Signal::Progress(Progress::Tool {
                    id: call.to_owned(),
                    title: tool::title(part.tool.str(), &state.input, &self.root),
                    status: "running".to_owned(),
                    parent: parent.map(ToOwned::to_owned),
                    files: Vec::new(),
                }));
            }
            "completed" | "error" => {
                self.open.close(call);
                self.reader.tool(part, parent, to);
            }
            _ => {}
        }
    }
}

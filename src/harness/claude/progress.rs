//! Reads Claude Code's progress: text, tool calls, to-do list, usage, retries, limits.

use super::wire::{Block, Line, Message, Models, StreamEvent, Task};
use crate::harness::end_text::note;
use crate::harness::provider_errors;
use crate::harness::tail::Tail;
use crate::harness::{Calls, Progress, Signal, TodoItem, tool};
use crate::outcome::Usage;
use crate::process::Secrets;
use chrono::{DateTime, Utc};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How much of the output goes into the next attempt's prompt, in bytes.
const TAIL: usize = 4096;

/// The state that the events so far add up to.
pub struct Reader {
    root: PathBuf,
    /// Tool calls without a result.
    open: Calls<Call>,
    todo: Vec<(String, TodoItem)>,
    /// Descriptions of background tasks, by task id.
    pub background: BTreeMap<String, String>,
    /// Whether the current message's text was streamed already.
    shown: bool,
    /// Tokens of the messages since the last result, from the stream.
    live: u64,
    /// Usage according to the results of this launch.
    pub usage: Usage,
    /// Whether the session continues an earlier one, whose usage its totals include.
    resumed: bool,
    /// The error of the last message, e.g. `rate_limit`.
    pub error: Option<String>,
    /// When the limit that was reached resets.
    pub limited_until: Option<DateTime<Utc>>,
    /// Titles of calls that Claude Code refused, by call id.
    pub refused: Calls<String>,
    pub tail: Tail,
    /// The end of standard error.
    pub errors: Tail,
}

struct Call {
    tool: String,
    title: String,
    files: Vec<String>,
    parent: Option<String>,
    todo: Option<TodoItem>,
}

impl Reader {
    pub fn new(root: PathBuf, resumed: bool, secrets: &Secrets) -> Self {
        Self {
            root,
            open: Calls::default(),
            todo: Vec::new(),
            background: BTreeMap::new(),
            shown: false,
            live: 0,
            usage: Usage::default(),
            resumed,
            error: None,
            limited_until: None,
            refused: Calls::default(),
            tail: Tail::new(TAIL, secrets),
            errors: Tail::new(TAIL, secrets),
        }
    }

    /// Whether a tool call is open.
    pub fn busy(&self) -> bool {
        !self.open.is_empty()
    }

    /// Handles a line, except permission requests and results.
    pub fn line(&mut self, line: &Line<'_>, to: &mut Vec<Signal>) {
        match line.kind.str() {
            "stream_event" => self.stream(line, to),
            "assistant" => self.assistant(line, to),
            "user" => self.user(line, to),
            "system" => self.system(line, to),
            "rate_limit_event" => self.rate_limit(line, to),
            _ => {}
        }
    }

    fn stream(&mut self, line: &Line<'_>, to: &mut Vec<Signal>) {
        let (Some(event), None) = (line.event.get(), line.parent_tool_use_id.get()) else { return };
        let StreamEvent { kind, delta, message, usage } = event;
        match kind.str() {
            "message_start" => {
                self.shown = false;
                let tokens = message.get().and_then(|m| m.usage.get()).map_or(0, |tokens| tokens.sum());
                self.live = self.live.saturating_add(tokens);
            }
            "content_block_delta" => {
                if let Some(delta) = delta.get().filter(|d| d.kind.str() == "text_delta") {
                    self.shown = true;
                    to.push(text(delta.text.str()));
                }
            }
            "message_delta" => {
                let tokens = usage.get().map_or(0, |tokens| tokens.output_tokens.count());
                self.live = self.live.saturating_add(tokens);
                to.push(self.used());
            }
            _ => {}
        }
    }

    fn assistant(&mut self, line: &Line<'_>, to: &mut Vec<Signal>) {
        self.error = line.error.get().map(ToOwned::to_owned);
        let Some(message) = line.message.get() else { return };
        let parent = line.parent_tool_use_id.get();
        for block in &message.content.items {
            match block.kind.str() {
                "text" if parent.is_none() => {
                    self.tail.line(block.text.str());
                    // The whole text, unless it was streamed.
                    to.push(text(if self.shown { "\n" } else { block.text.str() }));
                    if !self.shown {
                        to.push(text("\n"));
                    }
                    self.shown = false;
                }
                "tool_use" => self.call(block, parent, to),
                _ => {}
            }
        }
    }

    fn call(&mut self, block: &Block<'_>, parent: Option<&str>, to: &mut Vec<Signal>) {
        let (id, name) = (block.id.str().to_owned(), block.name.str());
        let call = Call {
            tool: name.to_owned(),
            title: tool::title(name, &block.input, &self.root),
            files: tool::files(name, &block.input, &self.root),
            parent: parent.map(ToOwned::to_owned),
            todo: None,
        };
        self.tail.line(&format!("[{}]", call.title));
        to.push(call.progress(&id, "running"));
        self.open.open(&id, call);
        match name {
            "TodoWrite" => self.todo_write(&block.input, to),
            "TaskCreate" => {
                let subject =
                    block.input.get("subject").and_then(Value::as_str).unwrap_or_default().to_owned();
                let item = TodoItem { text: subject, status: "pending".to_owned() };
                if let Some(call) = self.open.get_mut(&id) {
                    call.todo = Some(item);
                }
            }
            "TaskUpdate" => self.task_update(&block.input, to),
            _ => {}
        }
    }

    fn user(&mut self, line: &Line<'_>, to: &mut Vec<Signal>) {
        let results = line.message.get().map(|Message { content, .. }| &*content.items).unwrap_or_default();
        for block in results.iter().filter(|block| block.kind.str() == "tool_result") {
            let id = block.tool_use_id.str();
            let Some(mut call) = self.open.close(id) else { continue };
            let failed = block.is_error.yes();
            if failed {
                call.files.clear();
                self.tail.line(&format!("[{} failed]", call.title));
            }
            to.push(call.progress(id, if failed { "failed" } else { "done" }));
            if !failed {
                self.todo_result(&mut call, line, to);
            }
        }
    }

    fn todo_result(&mut self, call: &mut Call, line: &Line<'_>, to: &mut Vec<Signal>) {
        let Some(result) = line.tool_use_result.get() else { return };
        if let (Some(item), Some(task)) = (call.todo.take(), result.task.get()) {
            self.todo.push((task.id.str().to_owned(), item));
            to.push(self.todo());
        } else if call.tool == "TaskList" && !result.tasks.items.is_empty() {
            let entry = |task: &Task<'_>| {
                let (text, status) = (task.subject.str().to_owned(), task.status.str().to_owned());
                (task.id.str().to_owned(), TodoItem { text, status })
            };
            self.todo = result.tasks.items.iter().map(entry).collect();
            to.push(self.todo());
        }
    }

    fn todo_write(&mut self, input: &Value, to: &mut Vec<Signal>) {
        let field =
            |item: &Value, key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        if let Some(items) = input.get("todos").and_then(Value::as_array) {
            let entry =
                |item: &Value| TodoItem { text: field(item, "content"), status: field(item, "status") };
            self.todo = items.iter().map(|item| (String::new(), entry(item))).collect();
            to.push(self.todo());
        }
    }

    fn task_update(&mut self, input: &Value, to: &mut Vec<Signal>) {
        let field = |key: &str| input.get(key).and_then(|v| v.as_str().map(ToOwned::to_owned));
        let Some(id) = field("taskId") else { return };
        let Some(at) = self.todo.iter().position(|(known, _)| *known == id) else { return };
        match field("status").as_deref() {
            Some("deleted") => drop(self.todo.remove(at)),
            Some(status) => self.todo[at].1.status = status.to_owned(),
            None => {}
        }
        if let (Some((_, item)), Some(subject)) = (self.todo.get_mut(at), field("subject")) {
            item.text = subject;
        }
        to.push(self.todo());
    }

    fn system(&mut self, line: &Line<'_>, to: &mut Vec<Signal>) {
        match line.subtype.str() {
            "api_retry" => {
                let what =
                    line.error.get().filter(|e| *e != "unknown").unwrap_or("no connection").replace('_', " ");
                let status = line.error_status.0.map_or_else(String::new, |status| format!(" ({status})"));
                let (attempt, most) = (line.attempt.count(), line.max_retries.count());
                let seconds = line.retry_delay_ms.0.unwrap_or_default() / 1000.0;
                let text = format!("{what}{status}, retry {attempt} of {most} in {seconds:.0}s");
                self.tail.line(&format!("[{text}]"));
                to.push(Signal::Progress(Progress::Waiting { text }));
            }
            "status" if line.status.str() == "compacting" => {
                to.push(Signal::Progress(Progress::Waiting {
                    text: "compacting the conversation".to_owned(),
                }));
            }
            "permission_denied" => {
                let id = line.tool_use_id.str();
                let tool = line.tool_name.str().to_owned();
                let title = self.open.get(id).map_or(tool, |call| call.title.clone());
                if self.refused.get(id).is_none() {
                    self.refused.open(id, title);
                }
            }
            "background_tasks_changed" => {
                if let Some(tasks) = &line.tasks {
                    let entry = |t: &Task<'_>| (t.task_id.str().to_owned(), String::new());
                    let old = std::mem::take(&mut self.background);
                    self.background = tasks.items.iter().map(entry).collect();
                    for (id, what) in old {
                        self.background.entry(id).and_modify(|known| *known = what);
                    }
                }
            }
            "task_started" if line.is_backgrounded.yes() => {
                self.background.insert(line.task_id.str().to_owned(), line.description.str().to_owned());
            }
            "task_notification" => drop(self.background.remove(line.task_id.str())),
            "task_updated" => {
                let status = line.patch.get().map_or("", |patch| patch.status.str());
                if matches!(status, "completed" | "failed" | "killed" | "stopped") {
                    self.background.remove(line.task_id.str());
                }
            }
            _ => {}
        }
    }

    fn rate_limit(&mut self, line: &Line<'_>, to: &mut Vec<Signal>) {
        let Some(info) = line.rate_limit_info.get() else { return };
        let until = info.resets_at.0.and_then(provider_errors::since_1970);
        let which = info.rate_limit_type.str().replace('_', " ");
        match info.status.str() {
            "rejected" => {
                self.limited_until = until;
                to.push(Signal::Progress(Progress::Waiting {
                    text: format!("the {which} limit is reached"),
                }));
            }
            "allowed_warning" => to.push(note(format!("the {which} limit is near"))),
            _ => {}
        }
    }

    /// Handles a result's usage and refusals.
    pub fn result(&mut self, line: &Line<'_>, to: &mut Vec<Signal>) {
        self.live = 0;
        let add = |sum: Option<u64>, n: u64| Some(sum.unwrap_or_default().saturating_add(n));
        if let Some((tokens, cost)) = line.model_usage_since_last_result.get().map(Models::sum) {
            self.usage.tokens = add(self.usage.tokens, tokens);
            self.usage.cost = Some(self.usage.cost.unwrap_or_default() + cost);
        } else if self.resumed {
            // Totals include the earlier session and do not say where this launch started.
            self.usage.tokens =
                line.usage.get().map_or(self.usage.tokens, |t| add(self.usage.tokens, t.sum()));
        } else {
            let total = line.model_usage.get().map(Models::sum);
            self.usage.tokens = total.map(|(tokens, _)| tokens).or(self.usage.tokens);
            self.usage.cost = line.total_cost_usd.amount().or(self.usage.cost);
        }
        to.push(self.used());
        for denial in &line.permission_denials.items {
            let id = denial.tool_use_id.str();
            if self.refused.get(id).is_none() {
                self.refused.open(id, tool::title(denial.tool_name.str(), &denial.tool_input, &self.root));
            }
        }
    }

    fn used(&self) -> Signal {
        let known = self.usage.tokens.unwrap_or_default().saturating_add(self.live);
        let tokens = (self.usage.tokens.is_some() || known > 0).then_some(known);
        Signal::Progress(Progress::Usage { usage: Usage { tokens, cost: self.usage.cost } })
    }

    fn todo(&self) -> Signal {
        Signal::Progress(Progress::Todo { items: self.todo.iter().map(|(_, item)| item.clone()).collect() })
    }
}

impl Call {
    fn progress(&self, id: &str, status: &str) -> Signal {
        let files = if status == "done" { self.files.clone() } else { Vec::new() };
        let (title, parent) = (self.title.clone(), self.parent.clone());
        Signal::Progress(Progress::Tool {
            id: id.to_owned(),
            title,
            status: status.to_owned(),
            parent,
            files,
        })
    }
}

fn text(text: &str) -> Signal {
    Signal::Progress(Progress::Text { text: text.to_owned() })
}

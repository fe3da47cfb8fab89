//! Claude Code, driven over its pipe: it asks for permissions there, accepts an interrupt there, and ends each turn with a
//! result. A release that does not answer over the pipe is run once, without permissions, and a note says so.
//!
//! An unknown name must never reach Claude Code, because it silently uses the default agent instead. So the name is looked
//! up in the handshake. If it is unknown there, if the release has no `--agent`, or if the agent's file is in a directory
//! that Claude Code does not read (where it would take another agent of that name, which the user has not seen), the text
//! of the file goes before the prompt instead.

mod input;
mod names;
mod permission;
mod progress;
mod session;
mod start;
mod start_errors;
mod verdict;
mod wire;

use super::end_text::{cut_line, note, too_long};
use super::events::{self, Rest, Unread};
use super::{Actions, Answer, End, Ending, Harness, Invocation, Signal, Stopped, Task};
use crate::outcome::{Outcome, Session};
use crate::process::{Environment, Exit};
use input::{send, user_message};
use progress::Reader;
use serde_json::{Value, json};
pub use session::Claude;
use session::{NAME, Phase, Restart};
use std::time::Duration;
use verdict::{Final, without_result};
use wire::Line;

/// How long the handshake may take; Claude Code starts its MCP servers before it answers.
const HANDSHAKE: Duration = Duration::from_secs(60);
/// How long the process may take to end after its last result.
const AFTER_RESULT: Duration = Duration::from_secs(5);
/// How long the process may wait for its background tasks after a result.
const BACKGROUND: Duration = Duration::from_secs(300);
/// Maximum number of notes about unreadable lines; all lines are in the output file.
const MAX_UNREAD: u8 = 5;
/// Ids of our requests.
const INITIALIZE: &str = "superpower-initialize";
const INTERRUPT: &str = "superpower-interrupt";

impl Claude {
    fn control(&mut self, line: &Line<'_>, text: &str, to: &mut Actions) {
        match line.kind.str() {
            "control_response" if self.phase == Phase::Starting && is_handshake(line) => {
                // Parsed completely, because the lenient types skip the lists of names.
                let whole: Value = serde_json::from_str(text).unwrap_or_default();
                let response = &whole["response"]["response"];
                self.begin(response.get("agents"), response.get("commands"), to);
            }
            "control_request" => {
                if let Some(question) = self.permissions.asked(line, to) {
                    self.cut.get_or_insert(Outcome::NeedsHuman { question });
                    to.stop = true;
                }
            }
            "control_cancel_request" => self.permissions.withdrawn(line.request_id.str(), to),
            _ => {}
        }
    }

    fn system(&mut self, line: &Line<'_>, text: &str, to: &mut Actions) {
        match line.subtype.str() {
            "init" => {
                let id = line.session_id.str().to_owned();
                to.signals.push(Signal::Session(Session { harness: NAME.to_owned(), id }));
                if !self.duplex && self.phase == Phase::Starting {
                    self.phase = Phase::Working;
                    self.check_one_shot(text, to);
                }
            }
            "api_retry"
                if line.error_status.0 == Some(401.0) || line.error.str() == "authentication_failed" =>
            {
                let why = format!("the login was refused ({})", line.error.get().unwrap_or("401"));
                self.cut.get_or_insert(Outcome::Auth { why });
                to.stop = true;
            }
            _ => {}
        }
    }

    fn result(&mut self, line: &Line<'_>, to: &mut Actions) {
        self.reader.result(line, &mut to.signals);
        let result = Final::of(line);
        if self.resume.is_some() && result.lost_session() {
            self.again = Some(Restart::NewSession);
        }
        self.result = Some(result);
        self.settle(to);
    }

    /// After a result: closes the input so that the process ends, unless background tasks are active.
    fn settle(&mut self, to: &mut Actions) {
        if self.result.is_none() {
            return;
        }
        let waits = !self.reader.background.is_empty();
        to.wake = Some(if waits { BACKGROUND } else { AFTER_RESULT });
        if !waits {
            self.phase = Phase::Ending;
            to.close = true;
        }
    }

    /// Handles a parsed event; `text` is its line.
    fn event(&mut self, line: &Line<'_>, text: &str, to: &mut Actions) {
        match line.kind.str() {
            "control_request" | "control_response" | "control_cancel_request" => self.control(line, text, to),
            "result" => self.result(line, to),
            kind => {
                self.reader.line(line, &mut to.signals);
                if kind == "system" {
                    self.system(line, text, to);
                }
                if self.phase == Phase::Ending && matches!(kind, "assistant" | "stream_event") {
                    // It continues by itself, so another result follows.
                    to.wake = Some(Duration::MAX);
                }
            }
        }
    }

    /// Reports an unreadable event; ends the launch if the event may have been one that the harness waits for.
    fn unread(&mut self, unread: &Unread, long: bool, to: &mut Actions) {
        const RESULTS: [&str; 4] = ["num_turns", "total_cost_usd", "permission_denials", "duration_api_ms"];
        let why = format!("cannot read a line of Claude Code ({})", unread.why);
        self.reader.tail.line(&format!("[{why}]"));
        let outcome = match &*unread.kind {
            "result" if long => too_long("the result"),
            // Its own type may be in the part that was dropped, and the type found one of a nested object.
            _ if long && unread.has(&RESULTS) => too_long("the result"),
            "result" | "control_request" | "control_response" => Outcome::Failed { why },
            _ if self.unread_notes < MAX_UNREAD => {
                self.unread_notes += 1;
                return to.signals.push(note(why));
            }
            _ => return,
        };
        self.cut.get_or_insert(outcome);
        to.stop = true;
    }
}

impl Harness for Claude {
    fn invocation(&mut self) -> Invocation {
        let mut args = self.first.clone();
        let mut add = |more: &[&str]| args.extend(more.iter().map(|&s| s.to_owned()));
        add(&["-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "acceptEdits"]);
        if self.duplex {
            add(&[
                "--input-format",
                "stream-json",
                "--permission-prompt-tool",
                "stdio",
                "--include-partial-messages",
            ]);
        }
        if let (Task::Agent(name), None) = (&self.launch.task, &self.by_text) {
            add(&["--agent", name]);
        }
        match &self.resume {
            Some(id) => add(&["--resume", id]),
            None => add(&["--session-id", &uuid::Uuid::new_v4().to_string()]),
        }
        args.extend(self.extra.iter().cloned());
        let todo = "CLAUDE_CODE_ENABLE_TODO_TOOLS";
        let unset = Environment::current().get(todo).is_none();
        let initialize = json!({"type": "control_request", "request_id": INITIALIZE, "request": {"subtype": "initialize"}});
        Invocation {
            args,
            env: unset.then(|| (todo.to_owned(), "1".to_owned())).into_iter().collect(),
            stdin: if self.duplex { format!("{initialize}\n") } else { self.prompt_text(None) }.into_bytes(),
            duplex: self.duplex,
            streams: true,
            wake: self.duplex.then_some(HANDSHAKE),
        }
    }

    fn line(&mut self, text: &str, lost: u64, to: &mut Actions) {
        to.signals.extend(self.said.take().map(note));
        if lost > 0 {
            to.signals.push(cut_line(lost));
            return events::unread(text, "too long").into_iter().for_each(|it| self.unread(&it, true, to));
        }
        let event = |json: &str| match serde_json::from_str::<Line<'_>>(json) {
            Ok(line) => {
                self.event(&line, json, to);
                true
            }
            Err(_) => false,
        };
        match events::read(text, event) {
            Rest::Nothing => {}
            Rest::Unread(unread) => self.unread(&unread, false, to),
            Rest::Text => self.reader.tail.begin(text, 400),
        }
    }

    fn error_line(&mut self, line: &str, _to: &mut Actions) {
        self.reader.errors.line(line);
        self.reader.tail.line(line);
    }

    fn answer(&mut self, id: &str, answer: &Answer, to: &mut Actions) {
        self.permissions.answer(id, answer, to);
    }

    fn woken(&mut self, to: &mut Actions) {
        match self.phase {
            Phase::Starting => {
                self.again = Some(Restart::NoReply);
                self.duplex = false;
                to.stop = true;
            }
            Phase::Working if self.result.is_some() => {
                let left: Vec<&str> = self.reader.background.values().map(String::as_str).collect();
                to.signals.push(note(format!(
                    "stopped: it was waiting for background tasks ({})",
                    left.join(", ")
                )));
                self.phase = Phase::Ending;
                to.close = true;
                to.stop = true;
            }
            Phase::Working => {}
            Phase::Ending => to.stop = true,
        }
    }

    fn wrap_up(&mut self, words: &str, to: &mut Actions) -> bool {
        let working = self.duplex && self.phase == Phase::Working && self.result.is_none();
        if working {
            // Claude Code reads it between two tool calls.
            send(to, &user_message(words));
        }
        working
    }

    fn stop(&mut self, to: &mut Actions) -> bool {
        to.close = true;
        // Before the prompt there is nothing to interrupt, and after the result nothing reads the pipe.
        if self.duplex && self.phase == Phase::Working {
            let request = json!({"type": "control_request", "request_id": INTERRUPT, "request": {"subtype": "interrupt"}});
            send(to, &request);
            return true;
        }
        false
    }

    fn busy(&self) -> bool {
        self.reader.busy() || self.permissions.waiting()
    }

    fn end(&mut self, end: &End, to: &mut Actions) -> Option<Ending> {
        if self.cut.is_none() && self.again.is_none() && self.result.is_none() && end.exit != Exit::Code(0) {
            self.refused();
        }
        if let Some(again) = self.again.take() {
            to.signals.push(note(match again {
                Restart::NewSession => "the agent's session no longer exists; starting a new one",
                Restart::NoReply => "Claude Code does not answer over its pipe: running it once, without asking for permissions",
                Restart::NoPipe => "this release of Claude Code has no pipe: running it once, without asking for permissions",
                Restart::ByText => "this release of Claude Code has no \"--agent\": the agent's text goes before the prompt",
            }));
            if again == Restart::NewSession {
                self.resume = None;
            }
            self.reader = Reader::new(self.launch.root.clone(), self.resume.is_some(), &self.secrets);
            (self.result, self.phase) = (None, Phase::Starting);
            return None;
        }
        let message = self.result.as_ref().map(|result| result.text.clone()).unwrap_or_default();
        let stopped = matches!(end.stopped, Some(Stopped::Asked | Stopped::Limit(_)));
        let outcome = match (self.cut.take(), &self.result) {
            (Some(cut), _) if !stopped => cut,
            (_, Some(result)) => result.outcome(&self.reader, chrono::Utc::now()),
            _ => without_result(end.exit, &self.reader),
        };
        // Requests that were open when the process was stopped were not refused.
        let refusals = if stopped { Vec::new() } else { self.permissions.refusals(&self.reader.refused) };
        Some(Ending {
            outcome,
            message,
            usage: self.reader.usage.clone(),
            refusals,
            tail: self.reader.tail.text(),
        })
    }
}

fn is_handshake(line: &Line<'_>) -> bool {
    line.response.get().is_some_and(|response| response.request_id.str() == INITIALIZE)
}

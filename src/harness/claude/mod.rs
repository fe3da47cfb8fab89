//! Claude Code, driven over its own pipe: it asks for permissions there, takes an interrupt there, and each turn ends
//! with a result. Where a release does not answer over the pipe, one shot is all there is, and that is said.
//!
//! A name that this release does not know is never left to its own fallback: over the pipe an unknown agent is the
//! default agent, in silence. So the names are compared with what the handshake tells, and where the name is not
//! among them, its file's text goes before the prompt; as it does where the release has no `--agent`, and where the
//! file that counts stands in no folder of Claude Code's: of that name it would take another, that nobody was shown.

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
use super::events::{self, Unread};
use super::{Actions, Answer, End, Ending, Harness, Invocation, Signal, Stopped, Task};
use crate::outcome::{Outcome, Session};
use crate::process::{Environment, Exit};
use input::{said, send};
use progress::Reader;
use serde_json::{Value, json};
pub use session::Claude;
use session::{Again, NAME, Phase};
use std::time::Duration;
use verdict::{Final, without_result};
use wire::Line;

/// A release that has not answered by then never will; servers of tools are started before it answers.
const HANDSHAKE: Duration = Duration::from_secs(60);
/// How long it may take to end, after its last result.
const AFTER_RESULT: Duration = Duration::from_secs(5);
/// How long it may wait, after a result, for what it left running in the background.
const BACKGROUND: Duration = Duration::from_secs(300);
/// Lines that cannot be read and are named; further ones are in the output's file only.
const NAMED: u8 = 5;
/// Our requests.
const INITIALIZE: &str = "superpower-initialize";
const INTERRUPT: &str = "superpower-interrupt";

impl Claude {
    fn control(&mut self, line: &Line<'_>, text: &str, to: &mut Actions) {
        match line.kind.str() {
            "control_response" if self.phase == Phase::Starting && is_handshake(line) => {
                // Read whole, once: the fast reader keeps no lists of names.
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
            self.again = Some(Again::Afresh);
        }
        self.result = Some(result);
        self.settle(to);
    }

    /// After a result: nothing more is asked of it, and it ends, unless something runs in the background.
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

    /// An event, read; `text` is all of it.
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
                    // It goes on by itself: another result follows.
                    to.wake = Some(Duration::MAX);
                }
            }
        }
    }

    /// An event that cannot be read is named, and ends it where something waits for it.
    fn unread(&mut self, unread: &Unread, long: bool, to: &mut Actions) {
        const RESULTS: [&str; 4] = ["num_turns", "total_cost_usd", "permission_denials", "duration_api_ms"];
        let why = format!("a line of Claude Code cannot be read ({})", unread.why);
        self.reader.tail.line(&format!("[{why}]"));
        let outcome = match &*unread.kind {
            "result" if long => too_long("its result"),
            // Its type may stand behind what was dropped, or be that of something in it.
            _ if long && unread.has(&RESULTS) => too_long("its result"),
            "result" | "control_request" | "control_response" => Outcome::Failed { why },
            _ if self.named < NAMED => {
                self.named += 1;
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
            stdin: if self.duplex { format!("{initialize}\n") } else { self.told(None) }.into_bytes(),
            duplex: self.duplex,
            streams: true,
            wake: self.duplex.then_some(HANDSHAKE),
        }
    }

    fn line(&mut self, text: &str, lost: u64, to: &mut Actions) {
        to.signals.extend(self.said.take().map(note));
        if lost > 0 {
            to.signals.push(cut_line(lost));
            return events::unread(text, "it is too long")
                .into_iter()
                .for_each(|it| self.unread(&it, true, to));
        }
        if let Ok(line) = serde_json::from_str::<Line<'_>>(text) {
            return self.event(&line, text, to);
        }
        let heard = events::heard(text);
        for json in &heard.events {
            if let Ok(line) = serde_json::from_str::<Line<'_>>(json) {
                self.event(&line, json, to);
            }
        }
        match heard.unread {
            Some(unread) => self.unread(&unread, false, to),
            None if heard.events.is_empty() => self.reader.tail.begin(text, 400),
            None => {}
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
                self.again = Some(Again::Silent);
                self.duplex = false;
                to.stop = true;
            }
            Phase::Working if self.result.is_some() => {
                let left: Vec<&str> = self.reader.background.values().map(String::as_str).collect();
                to.signals.push(note(format!(
                    "it waits for what runs in the background ({}): ended",
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
            // It is read between two calls of tools.
            send(to, &said(words));
        }
        working
    }

    fn stop(&mut self, to: &mut Actions) -> bool {
        to.close = true;
        // Before the prompt there is nothing to interrupt, and after the result nothing that listens.
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
                Again::Afresh => "the agent's session is not there any more: it starts afresh",
                Again::Silent => "Claude Code does not answer over its pipe: one shot, without asking for permissions",
                Again::NoPipe => "this release of Claude Code has no pipe to ask over: one shot, without asking",
                Again::ByText => "this release of Claude Code has no \"--agent\": the agent's text is given before the prompt",
            }));
            if again == Again::Afresh {
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
        // What was open when it was stopped was not refused.
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

//! OpenCode's server, one for each launch: it creates a session, sends the prompt to it, and follows its events until the
//! session is idle.

mod cut;
mod lines;
mod session;

use super::events::{Meaning, Watch};
use super::flags::Flags;
use super::names::{HINT, NAME};
use super::permission::Permissions;
use super::progress::{Failure, Last};
use super::rules;
use super::setup::{How, Setup};
use super::verdict::outcome;
use super::wire::{Line, Response};
use crate::harness::end_text::{cut_line, exit_words};
use crate::harness::events::{self, Rest};
use crate::harness::provider_errors::{self, Trouble};
use crate::harness::{
    Actions, Answer, End, Ending, Harness, Invocation, Request, Server, Stopped, Task, Way,
};
use crate::outcome::Outcome;
use crate::process::Environment;
use crate::terminal::plain;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use std::time::Duration;

/// How long the server may take until it accepts the prompt. It tries for two minutes to install plugins.
const START_TIMEOUT: Duration = Duration::from_secs(240);
/// The session has ended if no event follows idle for this long.
const IDLE_DELAY: Duration = Duration::from_millis(250);
/// The same after an error, which is not always followed by idle.
const ERROR_DELAY: Duration = Duration::from_secs(2);
/// A retry further away than this ends the process; the run waits instead.
const MAX_RETRY_DELAY: TimeDelta = TimeDelta::minutes(10);
/// Maximum number of OpenCode's own retries; releases before 1.18 retry without end.
const MAX_RETRIES: u64 = 5;
/// Markers of no-op events, which are dropped and do not reset the idle timer.
const NOOP_EVENTS: &[&str] = &[
    r#""server.heartbeat""#,
    r#""plugin.added""#,
    r#""file.watcher.updated""#,
    r#""catalog.updated""#,
    r#""integration.updated""#,
    r#""reference.updated""#,
];
/// The error of two servers that create the same database at the same time, and how often the start is repeated.
const LOCKED: &str = "database is locked";
const MAX_LOCKED: u8 = 3;
/// The line with the server's port.
const LISTENING: &str = "listening on http://127.0.0.1:";
/// The prompt after a denial has ended a turn.
const CONTINUE: &str = "What was denied stays denied, and the other calls that were made at the same time are cancelled. Continue without what was denied, or finish and say what it is needed for.";

pub struct Served {
    setup: Setup,
    flags: Flags,
    password: String,
    phase: Phase,
    watch: Watch,
    permissions: Permissions,
    /// An outcome that is decided before the process ends.
    cut: Option<Outcome>,
    again: bool,
    tries: u8,
    /// Whether it was told to continue and has not started to.
    told_to_continue: bool,
    /// The user's rules with ours added, until the user's own turn out to cover commands.
    rules: Option<String>,
    /// Why the server cannot be used.
    given_up: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The server or the session does not exist yet.
    Starting,
    /// After the prompt was sent.
    Working,
    /// Idle or failed: ended, unless it continues.
    Idle,
    /// After the request to stop.
    Stopping,
}

impl Served {
    pub fn new(setup: Setup, flags: Flags) -> Self {
        let launch = &setup.launch;
        Self {
            watch: Watch::new(launch.root.clone(), &setup.secrets),
            permissions: Permissions::new(launch, flags.auto),
            setup,
            rules: if flags.auto { None } else { rules::ours(&Environment::current()) },
            flags,
            password: uuid::Uuid::new_v4().simple().to_string(),
            phase: Phase::Starting,
            cut: None,
            again: false,
            tries: 0,
            told_to_continue: false,
            given_up: None,
        }
    }

    /// If the server cannot be used: the setup for another way to run, and why.
    pub fn given_up(&mut self, end: &End) -> Option<(Setup, String)> {
        let stopped = matches!(end.stopped, Some(Stopped::Asked | Stopped::Limit(_)));
        if self.phase != Phase::Starting || self.cut.is_some() || self.again || stopped {
            return None;
        }
        if self.tries < MAX_LOCKED && self.watch.reader.errors.text().contains(LOCKED) {
            self.tries += 1;
            self.again = true;
            return None;
        }
        let ended = || exit_words(end.exit);
        let why = self.given_up.take().unwrap_or_else(ended);
        Some((self.setup.clone(), format!("cannot use OpenCode's server ({why})")))
    }

    fn give_up(&mut self, why: impl Into<String>, to: &mut Actions) {
        self.given_up.get_or_insert(why.into());
        to.stop = true;
    }

    fn fail(&mut self, outcome: Outcome, to: &mut Actions) {
        self.cut.get_or_insert(outcome);
        to.stop = true;
    }

    /// Connects to the address that the server prints when it has started. Other text goes to the tail.
    fn read_address(&mut self, text: &str, to: &mut Actions) {
        let digits = |rest: &str| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
        if let Some(port) = text.split_once(LISTENING).and_then(|(_, rest)| digits(rest)) {
            let secret = BASE64_STANDARD.encode(format!("{NAME}:{}", self.password));
            let authorization = format!("Basic {secret}");
            to.connect = Some(Server { port, authorization, events: "/event", dull: NOOP_EVENTS });
        }
        self.watch.reader.tail.begin(text, 400);
    }

    fn prompt(&mut self, to: &mut Actions) {
        let (setup, id) = (&self.setup, &self.watch.session);
        self.phase = Phase::Working;
        to.wake = Some(Duration::MAX);
        let told = setup.prompt_text();
        let command = match (&setup.launch.task, &setup.how) {
            (Task::Skill(name), How::Named) => Some(name),
            _ => None,
        };
        let (way, body) = match command {
            None => ("prompt_async", self.prompt_of(&told)),
            Some(name) => {
                let mut body = json!({"command": name, "arguments": told});
                self.flags.add_to(&mut body, true);
                ("command", body)
            }
        };
        post("prompt", &format!("/session/{id}/{way}"), body, to);
    }

    /// The body of a prompt request.
    fn prompt_of(&self, text: &str) -> Value {
        let mut body = json!({"parts": [{"type": "text", "text": text}]});
        if let (Task::Agent(name), How::Named | How::MadePrimary) = (&self.setup.launch.task, &self.setup.how)
        {
            body["agent"] = json!(name);
        }
        self.flags.add_to(&mut body, false);
        body
    }

    /// Handles the response to our request.
    fn answered(&mut self, told: &Response<'_>, to: &mut Actions) {
        let good = told.status.0.is_some_and(|status| (200.0..300.0).contains(&status));
        let why = || match (told.answer.str(), told.status.0) {
            ("events", Some(200.0)) => "the events ended".to_owned(),
            (name, Some(_)) if good => format!("unexpected response to \"{name}\""),
            (name, Some(status)) => format!("status {status} for \"{name}\""),
            (name, None) => format!("\"{name}\" failed: {}", told.error.str()),
        };
        match (told.answer.str(), self.phase) {
            ("stranger", Phase::Starting) if told.status.0.is_some() => {
                self.check_password(told.status.0, to)
            }
            // If it does not list its models, its error for an unknown one is waited for.
            ("models", Phase::Starting) if told.status.0.is_some() => {
                self.models(Some(&told.body).filter(|_| good), to)
            }
            ("agents", Phase::Starting) if good && told.body.is_array() => self.agents(&told.body, to),
            ("commands", Phase::Starting) if good && told.body.is_array() => self.commands(&told.body, to),
            ("session", Phase::Starting) if good => self.session_is(&told.body, to),
            ("session", Phase::Starting) if self.setup.resume.is_some() && told.status.0.is_some() => {
                self.start_new_session("the agent's session no longer exists; starting a new one", to);
            }
            (_, Phase::Starting) => self.give_up(why(), to),
            // The server stops its shells before it answers.
            ("abort", _) => to.wake = Some(IDLE_DELAY),
            ("prompt", Phase::Working) if !good && told.status.0.is_some() => {
                self.watch.reader.failed_first(Failure::of(&told.body));
                self.fail_later(to);
            }
            // The request no longer exists, so it needs no reply.
            ("permission", Phase::Working) if told.status.0 == Some(404.0) => {}
            ("prompt" | "permission" | "events", Phase::Working)
                if !good || told.answer.str() == "events" =>
            {
                let why = format!("lost the connection to OpenCode's server ({})", why());
                self.fail(Outcome::Transient { why }, to);
            }
            _ => {}
        }
    }

    /// Whether a denial has cancelled the other calls and with them the turn, which then ends in the middle of tool calls.
    fn is_cut_short(&self) -> bool {
        self.told_to_continue || (self.watch.reader.last == Last::Tools && self.permissions.denied())
    }

    fn prompt_to_continue(&mut self, to: &mut Actions) {
        self.permissions.over(to);
        if !std::mem::replace(&mut self.told_to_continue, true) {
            let body = self.prompt_of(CONTINUE);
            post("prompt", &format!("/session/{}/prompt_async", self.watch.session), body, to);
        }
    }

    fn fail_later(&mut self, to: &mut Actions) {
        if self.phase == Phase::Working {
            self.phase = Phase::Idle;
            to.wake = Some(ERROR_DELAY);
        }
    }

    fn handle(&mut self, meaning: Meaning, to: &mut Actions) {
        match (meaning, self.phase) {
            (Meaning::Working, Phase::Working) => self.told_to_continue = false,
            (Meaning::Working, Phase::Idle) => {
                self.phase = Phase::Working;
                to.wake = Some(Duration::MAX);
            }
            (Meaning::Idle, Phase::Working) if self.is_cut_short() => self.prompt_to_continue(to),
            (Meaning::Idle, Phase::Working | Phase::Idle | Phase::Stopping) => {
                self.permissions.over(to);
                if self.phase == Phase::Working {
                    self.phase = Phase::Idle;
                }
                to.wake = Some(IDLE_DELAY);
            }
            (Meaning::Failed, _) => self.fail_later(to),
            (Meaning::Retries(until, why, times), Phase::Working | Phase::Idle) => {
                self.handle(Meaning::Working, to);
                self.retries(until, &why, times, to);
            }
            _ => {}
        }
    }

    /// Ends the process if the retry is far away or one of too many; the run waits instead.
    fn retries(&mut self, until: Option<DateTime<Utc>>, why: &str, times: u64, to: &mut Actions) {
        let now = Utc::now();
        let far = until.filter(|until| *until > now + MAX_RETRY_DELAY);
        if far.is_some() || times > MAX_RETRIES {
            let outcome = match provider_errors::trouble(why) {
                Trouble::Limit => provider_errors::limited(why, far, now),
                _ => Outcome::Transient { why: why.to_owned() },
            };
            self.fail(outcome, to);
        }
    }
}

impl Harness for Served {
    fn invocation(&mut self) -> Invocation {
        let mut args = self.setup.first.clone();
        args.extend(["serve", "--port", "0", "--hostname", "127.0.0.1"].map(ToOwned::to_owned));
        args.extend(self.flags.own.iter().cloned());
        let mut env = self.setup.environment();
        env.extend(self.rules.iter().map(|rules| (rules::VARIABLE.to_owned(), rules.clone())));
        env.push(("OPENCODE_SERVER_USERNAME".to_owned(), NAME.to_owned()));
        env.push(("OPENCODE_SERVER_PASSWORD".to_owned(), self.password.clone()));
        Invocation { args, env, streams: true, wake: Some(START_TIMEOUT), ..Invocation::default() }
    }

    fn line(&mut self, text: &str, lost: u64, to: &mut Actions) {
        if lost > 0 {
            to.signals.push(cut_line(lost));
        }
        if cut::is_cut(text) {
            let unread = events::unread(text, "too long");
            return unread.into_iter().for_each(|unread| self.unread(text, &unread, to));
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
            Rest::Unread(unread) => self.unread(text, &unread, to),
            Rest::Text => self.read_address(text, to),
        }
    }

    fn error_line(&mut self, line: &str, _to: &mut Actions) {
        self.watch.reader.error_line(&plain(line));
    }

    fn answer(&mut self, id: &str, answer: &Answer, to: &mut Actions) {
        self.permissions.answer(id, answer, to);
    }

    fn woken(&mut self, to: &mut Actions) {
        match self.phase {
            Phase::Starting => self.give_up("did not start in time", to),
            Phase::Working => {}
            Phase::Idle | Phase::Stopping => to.stop = true,
        }
    }

    fn wrap_up(&mut self, words: &str, to: &mut Actions) -> bool {
        let working = self.phase == Phase::Working;
        if working {
            // The server reads it before the next step, even during a tool call.
            let body = self.prompt_of(words);
            post("wrap-up", &format!("/session/{}/prompt_async", self.watch.session), body, to);
        }
        working
    }

    fn stop(&mut self, to: &mut Actions) -> bool {
        let working = self.phase == Phase::Working;
        if working {
            self.phase = Phase::Stopping;
            self.permissions.over(to);
            post("abort", &format!("/session/{}/abort", self.watch.session), json!({}), to);
        }
        working
    }

    fn is_server(&self) -> bool {
        true
    }

    fn busy(&self) -> bool {
        self.permissions.waiting() || self.watch.busy()
    }

    fn end(&mut self, end: &End, _to: &mut Actions) -> Option<Ending> {
        let root = self.setup.launch.root.clone();
        if std::mem::take(&mut self.again) {
            (self.watch, self.phase) = (Watch::new(root, &self.setup.secrets), Phase::Starting);
            return None;
        }
        let stopped = matches!(end.stopped, Some(Stopped::Asked | Stopped::Limit(_)));
        // The model was told of refused permissions and continued, so they do not decide the outcome.
        let outcome = match self.cut.take().filter(|_| !stopped) {
            Some(cut) => cut,
            None => outcome(&self.setup, &self.watch.reader, end, &[]),
        };
        let reader = &self.watch.reader;
        let refused = if stopped { &[] } else { self.permissions.refused() };
        let refusals = refused.iter().map(|what| format!("{what}; {HINT}")).collect();
        let (message, usage) = (reader.message(), reader.usage.clone());
        Some(Ending { outcome, message, usage, refusals, tail: reader.tail.text() })
    }
}

fn get(name: &str, path: &str, to: &mut Actions) {
    request(name, path, Way::Get, to);
}

fn post(name: &str, path: &str, body: Value, to: &mut Actions) {
    request(name, path, Way::Post(body), to);
}

fn request(name: &str, path: &str, way: Way, to: &mut Actions) {
    to.requests.push(Request { name: name.to_owned(), path: path.to_owned(), way });
}

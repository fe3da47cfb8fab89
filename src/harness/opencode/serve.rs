//! OpenCode's server, one a launch: a session is made in it, the prompt is put to that, and its events are followed
//! until the session rests.

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
use super::verdict::judged;
use super::wire::{Line, Told};
use crate::harness::end_text::{cut_line, exit_words};
use crate::harness::events;
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

/// A server that has not taken the prompt by then never will. It tries for two minutes to install what plugins need.
const START: Duration = Duration::from_secs(240);
/// It has come to rest when nothing follows for so long; what was still to be told is told by then.
const REST: Duration = Duration::from_millis(250);
/// The same after an error, which not always is followed by rest.
const ERROR: Duration = Duration::from_secs(2);
/// Whoever waits longer than this for another try does not wait in a running process.
const FAR: TimeDelta = TimeDelta::minutes(10);
/// So often it tries again at most; releases before 1.18 do without end.
const RETRIES: u64 = 5;
/// Events that say nothing of the work.
const DULL: &[&str] = &[
    r#""server.heartbeat""#,
    r#""plugin.added""#,
    r#""file.watcher.updated""#,
    r#""catalog.updated""#,
    r#""integration.updated""#,
    r#""reference.updated""#,
];
/// What a server says that finds another one at making the same data base, and how often that is tried again.
const LOCKED: &str = "database is locked";
const TRIES: u8 = 3;
/// What it says when it serves.
const LISTENING: &str = "listening on http://127.0.0.1:";
/// What it hears where a denial has ended its turn.
const GO_ON: &str = "What was denied stays denied, and the calls that were made beside it are cancelled with it. Go on without what was denied, or finish and say what it is needed for.";

/// A launch of OpenCode's server.
pub struct Served {
    setup: Setup,
    flags: Flags,
    password: String,
    phase: Phase,
    watch: Watch,
    permissions: Permissions,
    /// What ends it before its own end does.
    cut: Option<Outcome>,
    again: bool,
    tries: u8,
    /// It was told to go on, and has not begun with that.
    told_on: bool,
    /// The user's rules with ours added, until their own are found to speak of the same.
    rules: Option<String>,
    /// Why its server does not do.
    given_up: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It does not serve yet, or the session is not made yet.
    Starting,
    /// It has its prompt.
    Working,
    /// It rests, or went wrong: over unless it goes on.
    Resting,
    /// It was told to stop.
    Stopping,
}

impl Served {
    /// OpenCode's server, for this.
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
            told_on: false,
            given_up: None,
        }
    }

    /// Why its server does not do, if it does not, and what there is to do otherwise.
    pub fn given_up(&mut self, end: &End) -> Option<(Setup, String)> {
        let stopped = matches!(end.stopped, Some(Stopped::Asked | Stopped::Limit(_)));
        if self.phase != Phase::Starting || self.cut.is_some() || self.again || stopped {
            return None;
        }
        if self.tries < TRIES && self.watch.reader.errors.text().contains(LOCKED) {
            self.tries += 1;
            self.again = true;
            return None;
        }
        let ended = || format!("it ended with {}", exit_words(end.exit));
        let why = self.given_up.take().unwrap_or_else(ended);
        Some((self.setup.clone(), format!("OpenCode's server does not do ({why})")))
    }

    fn give_up(&mut self, why: impl Into<String>, to: &mut Actions) {
        self.given_up.get_or_insert(why.into());
        to.stop = true;
    }

    fn fail(&mut self, outcome: Outcome, to: &mut Actions) {
        self.cut.get_or_insert(outcome);
        to.stop = true;
    }

    fn prompt(&mut self, to: &mut Actions) {
        let (setup, id) = (&self.setup, &self.watch.session);
        self.phase = Phase::Working;
        to.wake = Some(Duration::MAX);
        let told = setup.told();
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

    /// What is posted with a text.
    fn prompt_of(&self, text: &str) -> Value {
        let mut body = json!({"parts": [{"type": "text", "text": text}]});
        if let (Task::Agent(name), How::Named | How::MadePrimary) = (&self.setup.launch.task, &self.setup.how)
        {
            body["agent"] = json!(name);
        }
        self.flags.add_to(&mut body, false);
        body
    }

    /// An answer to a request of ours.
    fn answered(&mut self, told: &Told<'_>, to: &mut Actions) {
        let good = told.status.0.is_some_and(|status| (200.0..300.0).contains(&status));
        let why = || match (told.answer.str(), told.status.0) {
            ("events", Some(200.0)) => "its events ended".to_owned(),
            (name, Some(_)) if good => format!("what it says of its {name} is not understood"),
            (name, Some(status)) => format!("{name} was answered with {status}"),
            (name, None) => format!("{name}: {}", told.error.str()),
        };
        match (told.answer.str(), self.phase) {
            ("stranger", Phase::Starting) if told.status.0.is_some() => self.let_in(told.status.0, to),
            // Where it does not tell, its own word is waited for.
            ("models", Phase::Starting) if told.status.0.is_some() => {
                self.models(Some(&told.body).filter(|_| good), to)
            }
            ("agents", Phase::Starting) if good && told.body.is_array() => self.agents(&told.body, to),
            ("commands", Phase::Starting) if good && told.body.is_array() => self.commands(&told.body, to),
            ("session", Phase::Starting) if good => self.session_is(&told.body, to),
            ("session", Phase::Starting) if self.setup.resume.is_some() && told.status.0.is_some() => {
                self.afresh("the agent's session is not there any more: it starts afresh", to);
            }
            (_, Phase::Starting) => self.give_up(why(), to),
            // What stops it ends its shells before it answers.
            ("abort", _) => to.wake = Some(REST),
            ("prompt", Phase::Working) if !good && told.status.0.is_some() => {
                self.watch.reader.failed_first(Failure::of(&told.body));
                self.fail_later(to);
            }
            // One that is not there any more needs none.
            ("permission", Phase::Working) if told.status.0 == Some(404.0) => {}
            ("prompt" | "permission" | "events", Phase::Working)
                if !good || told.answer.str() == "events" =>
            {
                let why = format!("the connection to OpenCode's server is lost ({})", why());
                self.fail(Outcome::Transient { why }, to);
            }
            _ => {}
        }
    }

    /// Whether a denial took the calls beside it along, and with them the turn: then it is over in the midst of tools.
    fn is_cut_short(&self) -> bool {
        self.told_on || (self.watch.reader.last == Last::Tools && self.permissions.denied())
    }

    fn go_on(&mut self, to: &mut Actions) {
        self.permissions.over(to);
        if !std::mem::replace(&mut self.told_on, true) {
            let body = self.prompt_of(GO_ON);
            post("prompt", &format!("/session/{}/prompt_async", self.watch.session), body, to);
        }
    }

    fn fail_later(&mut self, to: &mut Actions) {
        if self.phase == Phase::Working {
            self.phase = Phase::Resting;
            to.wake = Some(ERROR);
        }
    }

    fn means(&mut self, meaning: Meaning, to: &mut Actions) {
        match (meaning, self.phase) {
            (Meaning::Working, Phase::Working) => self.told_on = false,
            (Meaning::Working, Phase::Resting) => {
                self.phase = Phase::Working;
                to.wake = Some(Duration::MAX);
            }
            (Meaning::Rests, Phase::Working) if self.is_cut_short() => self.go_on(to),
            (Meaning::Rests, Phase::Working | Phase::Resting | Phase::Stopping) => {
                self.permissions.over(to);
                if self.phase == Phase::Working {
                    self.phase = Phase::Resting;
                }
                to.wake = Some(REST);
            }
            (Meaning::Failed, _) => self.fail_later(to),
            (Meaning::Retries(until, why, times), Phase::Working | Phase::Resting) => {
                self.means(Meaning::Working, to);
                self.retries(until, &why, times, to);
            }
            _ => {}
        }
    }

    /// It waits for another try; for one that is far away, or one of too many, the run waits instead.
    fn retries(&mut self, until: Option<DateTime<Utc>>, why: &str, times: u64, to: &mut Actions) {
        let now = Utc::now();
        let far = until.filter(|until| *until > now + FAR);
        if far.is_some() || times > RETRIES {
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
        Invocation { args, env, streams: true, wake: Some(START), ..Invocation::default() }
    }

    fn line(&mut self, text: &str, lost: u64, to: &mut Actions) {
        if lost > 0 {
            to.signals.push(cut_line(lost));
        }
        if cut::is_cut(text) {
            let unread = events::unread(text, "it is too long");
            return unread.into_iter().for_each(|unread| self.unread(text, &unread, to));
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
        if let Some(unread) = heard.unread {
            return self.unread(text, &unread, to);
        }
        if heard.events.is_empty() {
            let digits = |rest: &str| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
            if let Some(port) = text.split_once(LISTENING).and_then(|(_, rest)| digits(rest)) {
                let secret = BASE64_STANDARD.encode(format!("{NAME}:{}", self.password));
                let authorization = format!("Basic {secret}");
                to.connect = Some(Server { port, authorization, events: "/event", dull: DULL });
            }
            self.watch.reader.tail.begin(text, 400);
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
            Phase::Starting => self.give_up("it does not come up", to),
            Phase::Working => {}
            Phase::Resting | Phase::Stopping => to.stop = true,
        }
    }

    fn wrap_up(&mut self, words: &str, to: &mut Actions) -> bool {
        let working = self.phase == Phase::Working;
        if working {
            // It is read before the next step, whatever tool call is open.
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
        // What a machine refused was told to the model, which went on: it is no end of its own.
        let outcome = match self.cut.take().filter(|_| !stopped) {
            Some(cut) => cut,
            None => judged(&self.setup, &self.watch.reader, end, &[]),
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

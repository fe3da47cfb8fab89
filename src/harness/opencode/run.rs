//! `opencode run`: the prompt on standard input, one line for each part of the answer, and no final event.
//!
//! It retries silently, refuses instead of asking, and does not stop its shells. Used for releases whose server does not
//! start, and if the user chooses it.

use super::names::HINT;
use super::progress::{Last, Reader};
use super::setup::{How, Setup};
use super::verdict::{MAX_CUTS, outcome};
use crate::harness::end_text::{cut_line, note};
use crate::harness::{Actions, End, Ending, Harness, Invocation, Progress, Signal, Stopped, Task};
use crate::outcome::Outcome;
use crate::terminal::plain;
use std::time::Duration;

/// After this much silence between steps the window says that OpenCode is probably retrying.
const SILENCE: Duration = Duration::from_secs(15);

/// A single run of OpenCode.
pub struct Run {
    setup: Setup,
    reader: Reader,
    cut: Option<Outcome>,
    again: bool,
    silence: Duration,
}

impl Run {
    pub fn new(setup: Setup) -> Self {
        let reader = Reader::new(setup.launch.root.clone(), &setup.secrets);
        Self { setup, reader, cut: None, again: false, silence: Duration::ZERO }
    }
}

impl Harness for Run {
    fn invocation(&mut self) -> Invocation {
        let setup = &self.setup;
        let mut args = setup.first.clone();
        let mut add = |more: &[&str]| args.extend(more.iter().map(|&s| s.to_owned()));
        add(&["run", "--format", "json"]);
        match (&setup.launch.task, &setup.how) {
            (_, How::ByText(_)) => {}
            (Task::Agent(name), _) => add(&["--agent", name]),
            (Task::Skill(name), _) => add(&["--command", name]),
        }
        match &setup.resume {
            Some(id) => add(&["--session", id]),
            None => add(&["--title", &setup.title()]),
        }
        args.extend(setup.extra.iter().cloned());
        Invocation {
            args,
            env: setup.environment(),
            stdin: setup.prompt_text().into_bytes(),
            streams: true,
            wake: Some(SILENCE),
            ..Invocation::default()
        }
    }

    fn line(&mut self, text: &str, lost: u64, to: &mut Actions) {
        if lost > 0 {
            to.signals.push(cut_line(lost));
        }
        self.reader.line(text, lost > 0, &mut to.signals);
        (self.silence, to.wake) = (Duration::ZERO, Some(SILENCE));
        if self.reader.cuts >= MAX_CUTS {
            let why = "the model's stream was cut repeatedly".to_owned();
            self.cut.get_or_insert(Outcome::Transient { why });
            to.stop = true;
        }
    }

    fn error_line(&mut self, line: &str, to: &mut Actions) {
        let line = plain(line);
        self.reader.error_line(&line);
        if !line.contains("Falling back to default agent") {
            return;
        }
        to.stop = true;
        if line.contains("is a subagent") && self.setup.how == How::Named {
            self.setup.how = How::MadePrimary;
            self.again = true;
            to.signals.push(note(self.setup.made_primary()));
        } else {
            self.cut = Some(self.setup.unknown());
        }
    }

    fn woken(&mut self, to: &mut Actions) {
        if !self.busy() {
            self.silence += SILENCE;
            let text = format!(
                "no output from the model for {}s; OpenCode retries silently",
                self.silence.as_secs()
            );
            to.signals.push(Signal::Progress(Progress::Waiting { text }));
        }
        to.wake = Some(SILENCE);
    }

    fn busy(&self) -> bool {
        // Tools are only reported when they finish, so one may be active while a step is open.
        self.reader.last == Last::Open
    }

    fn end(&mut self, end: &End, to: &mut Actions) -> Option<Ending> {
        if self.setup.resume.is_some() && self.reader.errors.text().contains("Session not found") {
            self.setup.resume = None;
            self.again = true;
            to.signals.push(note("the agent's session no longer exists; starting a new one"));
        }
        if std::mem::take(&mut self.again) {
            self.reader = Reader::new(self.setup.launch.root.clone(), &self.setup.secrets);
            return None;
        }
        let stopped = matches!(end.stopped, Some(Stopped::Asked | Stopped::Limit(_)));
        let cut = self.cut.take().filter(|_| !stopped);
        let outcome = cut.unwrap_or_else(|| outcome(&self.setup, &self.reader, end, self.reader.refusals()));
        let reader = &self.reader;
        let refusals = reader.refusals().iter().map(|what| format!("{what}; {HINT}")).collect();
        let (message, usage) = (reader.message(), reader.usage.clone());
        Some(Ending { outcome, message, usage, refusals, tail: reader.tail.text() })
    }
}

//! OpenCode, one run a launch: the prompt on standard input, a line for each part of the answer, and no final event.
//!
//! Its silent fallback to the default agent is never taken: a subagent is made primary for this run, an agent that
//! only Claude Code's folders have is given by its text, and a name that it does not know ends the run.

mod read;

use super::known::{self, File};
use super::words::{cut_line, exit_words, first_line, note, plain};
use super::{Actions, End, Ending, Harness, Invocation, Launch, Progress, Signal, Stopped, Task};
use crate::outcome::Outcome;
use crate::process::Environment;
use read::{Last, Reader};
use serde_json::{Value, json};
use std::time::Duration;

/// The name of this harness.
pub const NAME: &str = "opencode";
/// Configuration that it merges over its files.
const CONFIG: &str = "OPENCODE_CONFIG_CONTENT";
/// Steps without a reason in a row, after which a cut stream will not mend: it repeats the step without end.
const CUTS: u32 = 4;
/// After so much silence outside of a step, that is shown: it retries without a word.
const SILENCE: Duration = Duration::from_secs(15);
/// What turns asking into allowing.
const HINT: &str =
    r#"to allow it: harnesses.opencode.args = { "--auto" }, or a rule in its own configuration"#;

/// A launch of OpenCode.
pub struct Opencode {
    first: Vec<String>,
    extra: Vec<String>,
    launch: Launch,
    resume: Option<String>,
    how: How,
    reader: Reader,
    cut: Option<Outcome>,
    again: bool,
    silence: Duration,
}

/// How the task's name is given.
#[derive(Clone, Debug, PartialEq, Eq)]
enum How {
    /// By name.
    Named,
    /// By name, with the agent made primary for this run.
    MadePrimary,
    /// By its text.
    Told(File),
}

impl Opencode {
    /// OpenCode with these first and these last arguments.
    pub fn new(first: Vec<String>, extra: Vec<String>, launch: &Launch) -> Self {
        let ours = launch.session.as_ref().filter(|session| session.harness == NAME);
        Self {
            first,
            extra,
            how: How::of(launch),
            resume: ours.map(|session| session.id.clone()).filter(|id| super::is_name(id)),
            launch: launch.clone(),
            reader: Reader::new(launch.root.clone()),
            cut: None,
            again: false,
            silence: Duration::ZERO,
        }
    }

    fn name(&self) -> &str {
        let (Task::Agent(name) | Task::Skill(name)) = &self.launch.task;
        name
    }

    fn is_strange_skill(&self) -> bool {
        matches!(self.launch.task, Task::Skill(_))
            && File::find(&self.launch.task, &self.launch.root).is_none()
    }

    fn outcome(&self, end: &End) -> Outcome {
        let errors = plain(&self.reader.errors.text());
        match &self.reader.last {
            Last::Good if self.reader.message().trim().is_empty() => {
                Outcome::Failed { why: "an empty result".to_owned() }
            }
            Last::Good => Outcome::Passed,
            Last::Error(error) => match error.outcome(chrono::Utc::now()) {
                // Its own words for a name that it does not know say nothing of it.
                Outcome::Failed { why } if self.is_strange_skill() => Outcome::Failed {
                    why: format!("no file of a skill \"{}\" is found, and OpenCode says: {why}", self.name()),
                },
                outcome => outcome,
            },
            Last::Nothing | Last::Open | Last::Tools | Last::Unknown
                if !self.reader.refusals().is_empty() =>
            {
                // It ends where a permission is refused, and says nothing of it to the model.
                Outcome::NeedsHuman {
                    question: format!("refused: {}; {HINT}", self.reader.refusals().join(", ")),
                }
            }
            _ => {
                let said = first_line(errors.trim_start_matches("Error: "));
                let exit = exit_words(end.exit);
                let why = if said.is_empty() {
                    format!("no final event ({exit})")
                } else {
                    format!("{said} ({exit})")
                };
                Outcome::Failed { why }
            }
        }
    }
}

impl How {
    fn of(launch: &Launch) -> Self {
        let Task::Agent(name) = &launch.task else { return Self::Named };
        match known::opencode_mode(name, &launch.root) {
            Some(mode) if mode.as_deref() == Some("subagent") => Self::MadePrimary,
            Some(_) => Self::Named,
            // What no file gives may be in its configuration, or built in.
            None => File::find(&launch.task, &launch.root).map_or(Self::Named, Self::Told),
        }
    }
}

impl Harness for Opencode {
    fn invocation(&mut self) -> Invocation {
        let mut args = self.first.clone();
        let mut add = |more: &[&str]| args.extend(more.iter().map(|&s| s.to_owned()));
        add(&["run", "--format", "json"]);
        match (&self.launch.task, &self.how) {
            (_, How::Told(_)) => {}
            (Task::Agent(name), _) => add(&["--agent", name]),
            (Task::Skill(name), _) => add(&["--command", name]),
        }
        match &self.resume {
            Some(id) => add(&["--session", id]),
            // Its own title costs a request.
            None => add(&["--title", &format!("superpower-{}", self.launch.stage)]),
        }
        args.extend(self.extra.iter().cloned());
        let prompt = match &self.how {
            How::Told(file) => format!("{}\n\n{}", file.introduction(), self.launch.prompt),
            _ => self.launch.prompt.clone(),
        };
        let primary = (self.how == How::MadePrimary).then(|| primary(self.name(), &Environment::current()));
        Invocation {
            args,
            env: primary.map(|config| (CONFIG.to_owned(), config)).into_iter().collect(),
            stdin: prompt.into_bytes(),
            streams: true,
            wake: Some(SILENCE),
            ..Invocation::default()
        }
    }

    fn line(&mut self, text: &str, lost: u64, to: &mut Actions) {
        if lost > 0 {
            to.signals.push(cut_line(lost));
        }
        self.reader.line(text, &mut to.signals);
        (self.silence, to.wake) = (Duration::ZERO, Some(SILENCE));
        if self.reader.cuts >= CUTS {
            let why = "its stream is cut again and again".to_owned();
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
        if line.contains("is a subagent") && self.how == How::Named {
            self.how = How::MadePrimary;
            self.again = true;
            to.signals.push(note(format!(
                "\"{}\" is a subagent of OpenCode: made primary for this run",
                self.name()
            )));
        } else {
            let why = format!(
                "OpenCode has no agent \"{}\", and no file of the project or user gives its text",
                self.name()
            );
            self.cut = Some(Outcome::Failed { why });
        }
    }

    fn woken(&mut self, to: &mut Actions) {
        if !self.busy() {
            self.silence += SILENCE;
            let text =
                format!("no word from its model for {}s; it retries in silence", self.silence.as_secs());
            to.signals.push(Signal::Progress(Progress::Waiting { text }));
        }
        to.wake = Some(SILENCE);
    }

    fn busy(&self) -> bool {
        // Tools are told of when they are done: while a step is open one may be running.
        self.reader.last == Last::Open
    }

    fn end(&mut self, end: &End, to: &mut Actions) -> Option<Ending> {
        if self.resume.is_some() && self.reader.errors.text().contains("Session not found") {
            self.resume = None;
            self.again = true;
            to.signals.push(note("the agent's session is not there any more: it starts afresh"));
        }
        if std::mem::take(&mut self.again) {
            self.reader = Reader::new(self.launch.root.clone());
            return None;
        }
        let stopped = matches!(end.stopped, Some(Stopped::Asked | Stopped::Limit(_)));
        let outcome = self.cut.take().filter(|_| !stopped).unwrap_or_else(|| self.outcome(end));
        let reader = &self.reader;
        let refusals = reader.refusals().iter().map(|what| format!("{what}; {HINT}")).collect();
        let (message, usage) = (reader.message(), reader.usage.clone());
        Some(Ending { outcome, message, usage, refusals, tail: reader.tail.text() })
    }
}

/// The user's own configuration in the environment, with this agent made primary.
fn primary(name: &str, environment: &Environment) -> String {
    let users = environment.get(CONFIG).map(|text| text.to_string_lossy().into_owned()).unwrap_or_default();
    let mut config: Value = serde_json::from_str(&users).unwrap_or_else(|_| json!({}));
    if !config.is_object() {
        config = json!({});
    }
    if !config["agent"].is_object() {
        config["agent"] = json!({});
    }
    if !config["agent"][name].is_object() {
        config["agent"][name] = json!({});
    }
    config["agent"][name]["mode"] = json!("primary");
    config.to_string()
}

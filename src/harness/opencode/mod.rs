//! OpenCode, through its own server: it tells of its retries there, asks for permissions there, and stops its shells
//! when it is told to. Where the server does not come up, one run is all there is, and that is said.
//!
//! Its silent fallback to the default agent is never taken: a subagent is made primary for this run, an agent that
//! only Claude Code's folders have is given by its text, and a name that it does not know ends the run.

mod events;
mod flags;
mod permission;
mod read;
mod rules;
mod run;
mod serve;
mod wire;

use super::known::{self, File};
use super::words::{exit_words, first_line, note};
use super::{Actions, Answer, End, Ending, Harness, Invocation, Launch, Stopped, Task};
use crate::outcome::Outcome;
use crate::process::Environment;
use crate::terminal::plain;
use flags::Flags;
use jsonc_parser::ParseOptions;
use read::{Last, Reader};
use regex::Regex;
use run::Run;
use serde_json::{Value, json};
use serve::Served;
use std::sync::LazyLock;

/// The name of this harness.
pub const NAME: &str = "opencode";
/// Configuration that it merges over its files.
const CONFIG: &str = "OPENCODE_CONFIG_CONTENT";
/// Steps without a reason in a row, after which a cut stream will not mend: it repeats the step without end.
const CUTS: u32 = 4;
/// What turns asking into allowing.
const HINT: &str =
    r#"to allow it: harnesses.opencode.args = { "--auto" }, or a rule in its own configuration"#;

/// A launch of OpenCode.
pub struct Opencode {
    mode: Mode,
    /// To be said of the mode, once.
    said: Vec<String>,
}

enum Mode {
    Served(Box<Served>),
    Run(Box<Run>),
}

/// What is to be done, whichever way.
#[derive(Clone)]
struct Setup {
    first: Vec<String>,
    extra: Vec<String>,
    launch: Launch,
    resume: Option<String>,
    how: How,
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
        let resume = ours.map(|session| session.id.clone()).filter(|id| super::is_name(id));
        let (how, said) = How::of(launch);
        let (flags, extra) = Flags::read(extra);
        let setup = Setup { first, extra, how, resume, launch: launch.clone() };
        match flags {
            Ok(flags) => Self {
                mode: Mode::Served(Box::new(Served::new(setup, flags))),
                said: said.into_iter().collect(),
            },
            Err(why) => Self {
                mode: Mode::Run(Box::new(Run::new(setup))),
                said: said.into_iter().chain(why).collect(),
            },
        }
    }

    fn inner(&mut self) -> &mut dyn Harness {
        match &mut self.mode {
            Mode::Served(served) => &mut **served,
            Mode::Run(run) => &mut **run,
        }
    }
}

impl Harness for Opencode {
    fn invocation(&mut self) -> Invocation {
        self.inner().invocation()
    }

    fn line(&mut self, line: &str, lost: u64, to: &mut Actions) {
        to.signals.extend(self.said.drain(..).map(note));
        self.inner().line(line, lost, to);
    }

    fn error_line(&mut self, line: &str, to: &mut Actions) {
        self.inner().error_line(line, to);
    }

    fn answer(&mut self, id: &str, answer: &Answer, to: &mut Actions) {
        self.inner().answer(id, answer, to);
    }

    fn woken(&mut self, to: &mut Actions) {
        self.inner().woken(to);
    }

    fn wrap_up(&mut self, words: &str, to: &mut Actions) -> bool {
        self.inner().wrap_up(words, to)
    }

    fn stop(&mut self, to: &mut Actions) -> bool {
        self.inner().stop(to)
    }

    fn is_server(&self) -> bool {
        matches!(self.mode, Mode::Served(_))
    }

    fn busy(&self) -> bool {
        match &self.mode {
            Mode::Served(served) => served.busy(),
            Mode::Run(run) => run.busy(),
        }
    }

    fn end(&mut self, end: &End, to: &mut Actions) -> Option<Ending> {
        if let Mode::Served(served) = &mut self.mode
            && let Some((setup, why)) = served.given_up(end)
        {
            let what = "one run instead, without asking for permissions and without a word while it retries";
            to.signals.push(note(format!("{why}: {what}")));
            self.mode = Mode::Run(Box::new(Run::new(setup)));
            return None;
        }
        self.inner().end(end, to)
    }
}

impl How {
    /// How the task's name is given, and what is to be said of it.
    fn of(launch: &Launch) -> (Self, Option<String>) {
        let named = match &launch.task {
            Task::Agent(name) => known::opencode_mode(name, &launch.root),
            // A command fills its text with what it is given, and runs what then looks like a command of the shell's.
            Task::Skill(_) if !is_filled(&launch.prompt) => return (Self::Named, None),
            Task::Skill(_) => None,
        };
        match (named, &launch.task) {
            (Some(Some(mode)), _) if mode == "subagent" => (Self::MadePrimary, None),
            (Some(_), _) => (Self::Named, None),
            // What no file gives may be in its configuration, or built in.
            (None, task) => match File::find(task, &launch.root) {
                None => (Self::Named, None),
                Some(file) => {
                    let skill = matches!(task, Task::Skill(_));
                    let why = "OpenCode would run or read what the prompt only speaks of";
                    let said =
                        skill.then(|| format!("the text of {} is given, not its name: {why}", file.path));
                    (Self::Told(file), said)
                }
            },
        }
    }
}

/// Whether OpenCode would take parts of this for more than text where a command is given it: `` !`a command` `` is run
/// by a shell, and `@a/file` is read.
fn is_filled(prompt: &str) -> bool {
    prompt.contains("!`") || prompt.contains('@')
}

impl Setup {
    fn name(&self) -> &str {
        let (Task::Agent(name) | Task::Skill(name)) = &self.launch.task;
        name
    }

    /// Its title; one of its own costs a request.
    fn title(&self) -> String {
        format!("superpower-{}", self.launch.stage)
    }

    /// The prompt, with the text of what cannot be named.
    fn told(&self) -> String {
        let prompt = &self.launch.prompt;
        match (&self.how, &self.launch.task) {
            (How::Told(file), _) => file.told(prompt),
            // Nothing but a name of its own configuration: what it would run is no such thing any more.
            (_, Task::Skill(_)) => prompt.replace("!`", "! `"),
            _ => prompt.clone(),
        }
    }

    /// Variables that it is started with.
    fn environment(&self) -> Vec<(String, String)> {
        let primary = if self.how == How::MadePrimary { primary(self.name()) } else { None };
        primary.map(|config| (CONFIG.to_owned(), config)).into_iter().collect()
    }

    fn made_primary(&self) -> String {
        format!("\"{}\" is a subagent of OpenCode: made primary for this run", self.name())
    }

    /// The end of a launch whose name nobody knows.
    fn unknown(&self) -> Outcome {
        let what = if matches!(self.launch.task, Task::Skill(_)) { "skill" } else { "agent" };
        let name = self.name();
        let why =
            format!("OpenCode has no {what} \"{name}\", and no file of the project or user gives its text");
        Outcome::FailedForGood { why }
    }

    fn is_strange_skill(&self) -> bool {
        matches!(self.launch.task, Task::Skill(_))
            && File::find(&self.launch.task, &self.launch.root).is_none()
    }
}

/// The outcome, from what was read last.
fn judged(setup: &Setup, reader: &Reader, end: &End, refused: &[String]) -> Outcome {
    let errors = plain(&reader.errors.text());
    match &reader.last {
        Last::Good if reader.message().trim().is_empty() => {
            Outcome::Failed { why: "an empty result".to_owned() }
        }
        // The last text, or the verdict in it, may be what could not be read.
        Last::Good => reader.damaged.clone().unwrap_or(Outcome::Passed),
        Last::Short(reason) => Outcome::Failed { why: format!("its answer ended early ({reason})") },
        Last::Error(error) => match error.outcome(chrono::Utc::now()) {
            // Its own words for a name that it does not know say nothing of it.
            Outcome::Failed { why } if setup.is_strange_skill() => Outcome::Failed {
                why: format!("no file of a skill \"{}\" is found, and OpenCode says: {why}", setup.name()),
            },
            outcome => outcome,
        },
        Last::Nothing | Last::Open | Last::Tools | Last::Unknown if !refused.is_empty() => {
            // It ends where a permission is refused, and says nothing of it to the model.
            Outcome::NeedsHuman { question: format!("refused: {}; {HINT}", refused.join(", ")) }
        }
        Last::Unknown if !matches!(end.stopped, Some(Stopped::Asked | Stopped::Limit(_))) => {
            Outcome::Transient { why: "its stream was cut".to_owned() }
        }
        _ => {
            let said = first_line(errors.trim_start_matches("Error: "));
            if let Some(damaged) = &reader.damaged {
                return damaged.clone();
            }
            if let (Last::Nothing, Some(option)) = (&reader.last, unknown_option(&errors)) {
                let why = format!(
                    "this release of OpenCode does not know \"{option}\"; update it, or see harnesses.opencode.args"
                );
                return Outcome::FailedForGood { why };
            }
            let exit = match end.stopped {
                Some(Stopped::Harness) if said.is_empty() => "it came to rest without one".to_owned(),
                Some(Stopped::Harness) => "it came to rest without a final event".to_owned(),
                _ => exit_words(end.exit),
            };
            let why =
                if said.is_empty() { format!("no final event ({exit})") } else { format!("{said} ({exit})") };
            Outcome::Failed { why }
        }
    }
}

/// The part of the command line that it does not know.
fn unknown_option(errors: &str) -> Option<String> {
    static UNKNOWN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)unknown (?:arguments?|options?|commands?):?\s+['\x22]?([^\s'\x22,]+)")
            .expect("a constant pattern")
    });
    UNKNOWN.captures(errors).map(|found| found[1].to_owned())
}

/// The user's own configuration in the environment, with this agent made primary; none where it cannot be read, which
/// OpenCode itself says.
fn primary(name: &str) -> Option<String> {
    let users = Environment::current().get(CONFIG).map(|text| text.to_string_lossy().into_owned());
    let users = users.filter(|text| !text.trim().is_empty()).unwrap_or_else(|| "{}".to_owned());
    let mut config: Value = jsonc_parser::parse_to_serde_value(&users, &ParseOptions::default()).ok()?;
    if !config.is_object() {
        return None;
    }
    if !config["agent"].is_object() {
        config["agent"] = json!({});
    }
    if !config["agent"][name].is_object() {
        config["agent"][name] = json!({});
    }
    config["agent"][name]["mode"] = json!("primary");
    Some(config.to_string())
}

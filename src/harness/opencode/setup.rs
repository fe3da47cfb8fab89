//! What OpenCode is asked to do, whichever way it is driven.

use crate::harness::agent_file::{self, File};
use crate::harness::{Launch, Task};
use crate::outcome::Outcome;
use crate::process::{Environment, Secrets};
use jsonc_parser::ParseOptions;
use serde_json::{Value, json};

/// Configuration that it merges over its files.
const CONFIG: &str = "OPENCODE_CONFIG_CONTENT";
/// What is to be done, whichever way.
#[derive(Clone)]
pub(super) struct Setup {
    pub first: Vec<String>,
    pub extra: Vec<String>,
    pub launch: Launch,
    pub resume: Option<String>,
    pub how: How,
    pub secrets: Secrets,
}

/// How the task's name is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// By name.
    Named,
    /// By name, with the agent made primary for this run.
    MadePrimary,
    /// By its text.
    Told(File),
}

impl How {
    /// How the task's name is given, and what is to be said of it.
    pub fn of(launch: &Launch) -> (Self, Option<String>) {
        let named = match &launch.task {
            Task::Agent(name) => agent_file::opencode_mode(name, &launch.root),
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
    pub fn name(&self) -> &str {
        let (Task::Agent(name) | Task::Skill(name)) = &self.launch.task;
        name
    }

    /// Its title; one of its own costs a request.
    pub fn title(&self) -> String {
        format!("superpower-{}", self.launch.stage)
    }

    /// The prompt, with the text of what cannot be named.
    pub fn told(&self) -> String {
        let prompt = &self.launch.prompt;
        match (&self.how, &self.launch.task) {
            (How::Told(file), _) => file.told(prompt),
            // Nothing but a name of its own configuration: what it would run is no such thing any more.
            (_, Task::Skill(_)) => prompt.replace("!`", "! `"),
            _ => prompt.clone(),
        }
    }

    /// Variables that it is started with.
    pub fn environment(&self) -> Vec<(String, String)> {
        let primary = if self.how == How::MadePrimary { primary(self.name()) } else { None };
        primary.map(|config| (CONFIG.to_owned(), config)).into_iter().collect()
    }

    pub fn made_primary(&self) -> String {
        format!("\"{}\" is a subagent of OpenCode: made primary for this run", self.name())
    }

    /// The end of a launch whose name nobody knows.
    pub fn unknown(&self) -> Outcome {
        let what = if matches!(self.launch.task, Task::Skill(_)) { "skill" } else { "agent" };
        let name = self.name();
        let why =
            format!("OpenCode has no {what} \"{name}\", and no file of the project or user gives its text");
        Outcome::FailedForGood { why }
    }

    pub fn is_strange_skill(&self) -> bool {
        matches!(self.launch.task, Task::Skill(_))
            && File::find(&self.launch.task, &self.launch.root).is_none()
    }
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

//! The task for OpenCode, served or not.

use crate::harness::agent_file::{self, File};
use crate::harness::{Launch, Task};
use crate::outcome::Outcome;
use crate::process::{Environment, Secrets};
use jsonc_parser::ParseOptions;
use serde_json::{Value, json};

/// The variable with configuration that OpenCode merges over its files.
const CONFIG: &str = "OPENCODE_CONFIG_CONTENT";
/// The task and how to start it.
#[derive(Clone)]
pub(super) struct Setup {
    pub first: Vec<String>,
    pub extra: Vec<String>,
    pub launch: Launch,
    pub resume: Option<String>,
    pub how: How,
    pub secrets: Secrets,
}

/// How the agent or skill is passed to OpenCode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum How {
    Named,
    /// By name, after making the agent primary for this run.
    MadePrimary,
    /// By its text before the prompt.
    ByText(File),
}

impl How {
    /// How the agent or skill is passed, and a note about that.
    pub fn of(launch: &Launch) -> (Self, Option<String>) {
        let named = match &launch.task {
            Task::Agent(name) => agent_file::opencode_mode(name, &launch.root),
            // A command inserts the prompt into its text and executes what then looks like a shell command.
            Task::Skill(_) if !is_filled(&launch.prompt) => return (Self::Named, None),
            Task::Skill(_) => None,
        };
        match (named, &launch.task) {
            (Some(Some(mode)), _) if mode == "subagent" => (Self::MadePrimary, None),
            (Some(_), _) => (Self::Named, None),
            // Without a file it may be in OpenCode's configuration, or built in.
            (None, task) => match File::find(task, &launch.root) {
                None => (Self::Named, None),
                Some(file) => {
                    let skill = matches!(task, Task::Skill(_));
                    let why = "OpenCode would run commands or read files that the prompt only mentions";
                    let said =
                        skill.then(|| format!("the text of {} goes before the prompt: {why}", file.path));
                    (Self::ByText(file), said)
                }
            },
        }
    }
}

/// Whether OpenCode would execute or read parts of this prompt in a command: it runs `` !`a command` `` in a shell, and
/// reads `@a/file`.
fn is_filled(prompt: &str) -> bool {
    prompt.contains("!`") || prompt.contains('@')
}

impl Setup {
    pub fn name(&self) -> &str {
        let (Task::Agent(name) | Task::Skill(name)) = &self.launch.task;
        name
    }

    /// The session's title, because OpenCode would send a request to make one.
    pub fn title(&self) -> String {
        format!("superpower-{}", self.launch.stage)
    }

    /// The prompt, with the file's text if that is used.
    pub fn prompt_text(&self) -> String {
        let prompt = &self.launch.prompt;
        match (&self.how, &self.launch.task) {
            (How::ByText(file), _) => file.with_prompt(prompt),
            // A skill of OpenCode's configuration only; broken up so that nothing is executed.
            (_, Task::Skill(_)) => prompt.replace("!`", "! `"),
            _ => prompt.clone(),
        }
    }

    /// The environment variables for OpenCode.
    pub fn environment(&self) -> Vec<(String, String)> {
        let primary = if self.how == How::MadePrimary { primary(self.name()) } else { None };
        primary.map(|config| (CONFIG.to_owned(), config)).into_iter().collect()
    }

    pub fn made_primary(&self) -> String {
        format!("\"{}\" is a subagent of OpenCode; made primary for this run", self.name())
    }

    /// The outcome if nothing defines the agent or skill.
    pub fn unknown(&self) -> Outcome {
        let what = if matches!(self.launch.task, Task::Skill(_)) { "skill" } else { "agent" };
        let name = self.name();
        let why = format!("OpenCode has no {what} \"{name}\", and no file of the project or user defines it");
        Outcome::FailedForGood { why }
    }

    pub fn is_unknown_skill(&self) -> bool {
        matches!(self.launch.task, Task::Skill(_))
            && File::find(&self.launch.task, &self.launch.root).is_none()
    }
}

/// The user's configuration from the environment, with this agent made primary; `None` if it is invalid, which OpenCode
/// reports itself.
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

//! The user's configuration, as received from the editor. Every option has a default.

pub mod file;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

///
/// What is serialized is kept for the command line: the part that is data, without whether to trust.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The harness of stages without one of their own: a name, or `auto`.
    pub harness: String,
    /// Harness commands by name.
    pub harnesses: BTreeMap<String, HarnessConfig>,
    /// Whether the first run of a declaration asks for trust.
    #[serde(skip_serializing)]
    pub trust: Trust,
    /// Time limit of one attempt.
    #[serde(deserialize_with = "duration", serialize_with = "seconds")]
    pub timeout: Duration,
    /// Time without output after which a streaming agent is stopped.
    #[serde(deserialize_with = "duration", serialize_with = "seconds")]
    pub idle: Duration,
    /// Maximum time that a permission request waits for a human before it is denied automatically.
    #[serde(deserialize_with = "duration", serialize_with = "seconds")]
    pub permission_timeout: Duration,
    /// Facts that Lua provides.
    pub conditions: Vec<String>,
    /// Whether a Lua hook replaces prompts.
    pub prompt: bool,
    /// More directories of superpowers, relative to the project.
    pub places: Vec<PathBuf>,
    /// Our state directory, outside of projects; defaults to the one from the environment.
    #[serde(skip_serializing)]
    pub state_dir: Option<PathBuf>,
    /// State directory of older versions, whose trust answers are imported once.
    #[serde(skip_serializing)]
    pub old_state_dir: Option<PathBuf>,
    /// Number of finished runs that a project keeps.
    pub keep_runs: usize,
    /// Maximum bytes of raw output that are kept for one launch.
    pub max_output: u64,
    /// Maximum size of the log in bytes; one older log of the same size is kept.
    pub max_log: u64,
    /// Which process drives runs.
    #[serde(skip_serializing)]
    pub driver: Driver,
    /// What becomes of a run in a driver process when the editor that started it exits.
    #[serde(skip_serializing)]
    pub on_exit: OnExit,
    /// The program, with its arguments, that calls the user; none if empty.
    pub attention_command: Vec<String>,
    /// Whether no user can be asked.
    #[serde(skip_serializing)]
    pub headless: bool,
    /// Whether this is the command line, which no Lua answers.
    #[serde(skip_serializing)]
    pub command: bool,
}

impl Config {
    /// The options that differ from their defaults, as far as they are data.
    pub fn chosen(&self) -> Map<String, Value> {
        let fields = |config: &Self| match serde_json::to_value(config) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        let defaults = fields(&Self::default());
        fields(self).into_iter().filter(|(name, value)| defaults.get(name) != Some(value)).collect()
    }
}

/// The command line of a harness.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct HarnessConfig {
    /// Program and its first arguments; if empty, the harness's own.
    pub cmd: Vec<String>,
    /// More arguments.
    pub args: Vec<String>,
}

/// Whether the first run of a declaration asks for trust.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// It does.
    #[default]
    Ask,
    /// It does not.
    Always,
}

/// Which process drives runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Driver {
    /// One of its own for each project, which goes on when the editor exits.
    Process,
    /// The one that asks for them.
    #[default]
    Editor,
}

/// What becomes of a run in a driver process when the editor exits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnExit {
    #[default]
    Continue,
    /// It is interrupted, and its agents end.
    Stop,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            harness: "auto".into(),
            harnesses: BTreeMap::new(),
            trust: Trust::Ask,
            timeout: Duration::from_secs(60 * 60),
            idle: Duration::from_secs(15 * 60),
            permission_timeout: Duration::from_secs(5 * 60),
            conditions: Vec::new(),
            prompt: false,
            places: Vec::new(),
            state_dir: None,
            old_state_dir: None,
            keep_runs: 50,
            max_output: 256 << 20,
            max_log: 4 << 20,
            driver: Driver::default(),
            on_exit: OnExit::default(),
            attention_command: Vec::new(),
            headless: false,
            command: false,
        }
    }
}

/// Parses `30s`, `15m` or `2h`.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let unit = text.chars().last()?;
    let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
    let seconds = match unit {
        's' => number,
        'm' => number.checked_mul(60)?,
        'h' => number.checked_mul(3600)?,
        _ => return None,
    };
    (seconds > 0).then(|| Duration::from_secs(seconds))
}

fn seconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&format!("{}s", duration.as_secs()))
}

fn duration<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_duration(&text)
        .ok_or_else(|| serde::de::Error::custom(format!("invalid duration \"{text}\"; write 30s, 15m or 2h")))
}

//! What the user configured, as the editor hands it over. Everything has a default.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// The configuration that the engine works with.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The harness of stages that name none: a name, or `auto`.
    pub harness: String,
    /// Commands of harnesses, by name.
    pub harnesses: BTreeMap<String, HarnessConfig>,
    /// Whether the first run of a declaration asks.
    pub trust: Trust,
    /// Wall clock of one attempt.
    #[serde(deserialize_with = "duration")]
    pub timeout: Duration,
    /// Silence after which an agent that streams is ended.
    #[serde(deserialize_with = "duration")]
    pub idle: Duration,
    /// How long a permission waits for a human before a machine denies it.
    #[serde(deserialize_with = "duration")]
    pub permission_timeout: Duration,
    /// Names of facts that Lua provides.
    pub conditions: Vec<String>,
    /// Whether Lua replaces prompts.
    pub prompt: bool,
    /// More places of superpowers, relative to the project.
    pub places: Vec<PathBuf>,
    /// Our state, outside of projects; where the environment says, if it is not given.
    pub state_dir: Option<PathBuf>,
    /// Where older versions kept the answers about trust. They are taken over once.
    pub old_state_dir: Option<PathBuf>,
    /// How many finished runs a project keeps.
    pub keep_runs: usize,
    /// Bytes of raw output that are kept of one launch.
    pub max_output: u64,
    /// Bytes of the log that are kept, and as many of the one before it.
    pub max_log: u64,
    /// Whether nobody is there to be asked.
    pub headless: bool,
}

/// What a harness is started with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HarnessConfig {
    /// Program and its first arguments; the harness's own where empty.
    pub cmd: Vec<String>,
    /// More arguments.
    pub args: Vec<String>,
}

/// Whether the first run of a declaration asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// It does.
    #[default]
    Ask,
    /// It does not.
    Always,
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
            headless: false,
        }
    }
}

/// Reads `30s`, `15m`, `2h`.
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

fn duration<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_duration(&text).ok_or_else(|| {
        serde::de::Error::custom(format!("\"{text}\" is not a time: write it as 30s, 15m or 2h"))
    })
}

//! How a decision was made: by what means, and in which process.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How a decision was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct How {
    /// By what.
    pub means: Means,
    /// In which process.
    pub process: u32,
    /// What that runs; none where it cannot be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
}

/// By what a decision is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Means {
    /// A key in the gate's window.
    Key,
    /// A command that was typed, or mapped.
    Command,
    /// A call from Lua: a mapping's, a plugin's, or whoever reaches the editor over its socket.
    Lua,
    /// An editor without a user interface.
    Headless,
}

impl fmt::Display for How {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let means = match self.means {
            Means::Key => "key",
            Means::Command => "command",
            Means::Lua => "Lua",
            Means::Headless => "headless",
        };
        let program = self.program.as_deref().unwrap_or("process");
        write!(out, "{means}, {program} {}", self.process)
    }
}

/// Who decided, and how, where that is known.
pub fn by(by: &str, how: Option<&How>) -> String {
    how.map_or_else(|| by.to_owned(), |how| format!("{by} ({how})"))
}

/// A line of the log, with how what it tells of was made.
pub fn line(line: String, how: Option<&How>) -> String {
    how.map_or_else(|| line.clone(), |how| format!("{line}  ({how})"))
}

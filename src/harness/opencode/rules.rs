//! Commands are asked for, where the user's own configuration says nothing of them: OpenCode's own default allows them.

use crate::process::Environment;
use regex::Regex;
use serde_json::{Map, Value};

/// The variable whose rules it puts after those of its files.
pub const VARIABLE: &str = "OPENCODE_PERMISSION";
/// The tool that runs commands, by a pattern that nobody else writes: beside it is seen what the user's rules say.
const COMMANDS: &str = "bas?";

/// The variable's value with our rule; none where the user's own value speaks of commands.
pub fn ours(environment: &Environment) -> Option<String> {
    let users = environment.get(VARIABLE).map(|text| text.to_string_lossy().into_owned()).unwrap_or_default();
    // What is no JSON it passes over.
    let mut rules: Map<String, Value> = serde_json::from_str(&users).unwrap_or_default();
    if rules.keys().any(|name| is_for("bash", name)) {
        return None;
    }
    rules.insert(COMMANDS.to_owned(), "ask".into());
    serde_json::to_string(&rules).ok()
}

/// Whether the user's rules speak of commands. They stand before ours in those of each agent, behind the first, which
/// is OpenCode's own; those of one agent follow ours, and have the last word anyway. Agents that it brings along may
/// have more of its own.
pub fn users_speak(agents: &Value) -> bool {
    let name = |rule: &Value| rule["permission"].as_str().unwrap_or_default().to_owned();
    let speaks = |agent: &Value| {
        let rules = agent["permission"].as_array()?;
        let ours = rules.iter().position(|rule| name(rule) == COMMANDS)?;
        Some(rules[..ours].iter().skip(1).any(|rule| is_for("bash", &name(rule))))
    };
    let mut all = agents.as_array().into_iter().flatten().filter_map(speaks).peekable();
    all.peek().is_some() && all.all(|speaks| speaks)
}

/// Whether a rule of this name is for the tool: `*` and `?` stand for others.
fn is_for(tool: &str, name: &str) -> bool {
    let pattern = regex::escape(name).replace(r"\*", ".*").replace(r"\?", ".");
    Regex::new(&format!("(?s)^{pattern}$")).is_ok_and(|pattern| pattern.is_match(tool))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn agent(names: &[&str]) -> Value {
        json!({"permission": names.iter().map(|name| json!({"permission": name})).collect::<Vec<_>>()})
    }

    #[test]
    fn whoever_speaks_of_commands_has_the_last_word() {
        for users in ["bash", "*", "b*", "?ash"] {
            assert!(users_speak(&json!([agent(&["*", "read", users, "bas?"])])), "{users}");
        }
        for users in ["edit", "bashful", "bas"] {
            assert!(!users_speak(&json!([agent(&["*", "read", users, "bas?"])])), "{users}");
        }
        let own = [agent(&["*", "bas?", "bash"]), agent(&["*", "*", "bash", "bas?"]), agent(&[])];
        assert!(!users_speak(&json!(own)), "an agent's own, and those that OpenCode brings along");
        assert!(!users_speak(&json!([{"name": "x"}])));
    }
}

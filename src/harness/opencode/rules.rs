//! Makes OpenCode ask before it runs commands, which it allows by default, unless the user's configuration has a rule.

use crate::process::Environment;
use regex::Regex;
use serde_json::{Map, Value};

/// The variable with rules that OpenCode adds after those of its files.
pub const VARIABLE: &str = "OPENCODE_PERMISSION";
/// Matches the `bash` tool by an unusual pattern, so that our rule can be told from the user's.
const COMMANDS: &str = "bas?";

/// The variable's value with our rule; `None` if the user's value has a rule for commands.
pub fn ours(environment: &Environment) -> Option<String> {
    let users = environment.get(VARIABLE).map(|text| text.to_string_lossy().into_owned()).unwrap_or_default();
    // OpenCode ignores a value that is not JSON.
    let mut rules: Map<String, Value> = serde_json::from_str(&users).unwrap_or_default();
    if rules.keys().any(|name| is_for("bash", name)) {
        return None;
    }
    rules.insert(COMMANDS.to_owned(), "ask".into());
    serde_json::to_string(&rules).ok()
}

/// Whether the user's configuration has a rule for commands. In each agent's list the user's rules come before ours, after
/// OpenCode's own first rule; the rules of a single agent come after ours and win anyway. Built-in agents may have more
/// rules.
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

/// Whether a rule's pattern matches the tool; it may contain `*` and `?`.
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
    fn the_users_rules_for_commands_are_found() {
        for users in ["bash", "*", "b*", "?ash"] {
            assert!(users_speak(&json!([agent(&["*", "read", users, "bas?"])])), "{users}");
        }
        for users in ["edit", "bashful", "bas"] {
            assert!(!users_speak(&json!([agent(&["*", "read", users, "bas?"])])), "{users}");
        }
        let own = [agent(&["*", "bas?", "bash"]), agent(&["*", "*", "bash", "bas?"]), agent(&[])];
        assert!(!users_speak(&json!(own)), "an agent's own rules, and those of built-in agents");
        assert!(!users_speak(&json!([{"name": "x"}])));
    }
}

//! The configuration of this program: what an editor last drove the project with, and what `config.json` adds.

use crate::door::Door;
use crate::options;
use crate::refused::Refused;
use serde_json::{Map, Value, json};
use std::io;
use std::path::Path;
use superpower::config::file;
use superpower::store::configuration;
use superpower::store::state::State;

/// Which process is to drive runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drives {
    AsConfigured,
    /// The project's driver.
    Process,
}

/// Gives the engine the configuration of an editor, which that has written to standard input.
pub fn configure_as_editor(door: &Door) -> Result<(), Refused> {
    let refused =
        |error: String| Refused::internal(format!("the editor's configuration cannot be read: {error}"));
    let text = io::read_to_string(io::stdin()).map_err(|error| refused(error.to_string()))?;
    let config: Value = serde_json::from_str(&text).map_err(|error| refused(error.to_string()))?;
    door.call("configure", &json!({ "config": config })).map(|_| ())
}

/// Gives the engine its configuration for a project.
pub fn configure(door: &Door, root: Option<&Path>, drives: Drives) -> Result<(), Refused> {
    let refused = |message: String| Refused::new("config", message);
    let users = file::read().map_err(refused)?;
    let path = file::path().unwrap_or_default();
    if root.is_some_and(|root| path.starts_with(root)) && !users.is_empty() {
        return Err(refused(format!(
            "\"{}\" is in the project; programs are named in your own configuration only",
            path.display()
        )));
    }
    let problems = options::problems(&users);
    if !problems.is_empty() {
        let lines = problems.iter().map(|problem| format!("{}: {problem}", path.display()));
        return Err(refused(lines.collect::<Vec<_>>().join("\n")));
    }
    let state = State::at(users.get("state_dir").and_then(Value::as_str).map(Path::new));
    let kept = state.zip(root).and_then(|(state, root)| {
        state.is_outside(root).then(|| configuration::kept(&state, root)).flatten()
    });
    let kept = kept.unwrap_or_default();
    let config = |kept| {
        let mut config = merged(kept, &users);
        if drives == Drives::Process {
            config.insert("driver".into(), json!("process"));
        }
        json!({ "config": config })
    };
    match door.call("configure", &config(kept)) {
        // What another version has kept.
        Err(refused) if refused.code == "bad-request" => {
            door.call("configure", &config(Map::new())).map(|_| ())
        }
        other => other.map(|_| ()),
    }
}

/// What an editor has chosen, with what it leaves open from the user's file.
fn merged(mut config: Map<String, Value>, users: &Map<String, Value>) -> Map<String, Value> {
    for (name, value) in users.iter().filter(|(name, _)| options::is_for_engine(name)) {
        match (config.get_mut(name), value) {
            (None, _) => drop(config.insert(name.clone(), value.clone())),
            (Some(Value::Object(chosen)), Value::Object(more)) => {
                for (key, value) in more {
                    chosen.entry(key.clone()).or_insert_with(|| value.clone());
                }
            }
            (Some(Value::Array(chosen)), Value::Array(more)) if name == "conditions" => {
                chosen.extend(more.iter().cloned());
            }
            (Some(_), _) => {}
        }
    }
    config.entry("driver").or_insert_with(|| json!("process"));
    config.insert("headless".into(), json!(true));
    config.insert("command".into(), json!(true));
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_editors_choice_comes_first_and_the_file_fills_the_rest() {
        let map = |value: Value| value.as_object().unwrap().clone();
        let kept = map(json!({
            "timeout": "90s", "harnesses": { "claude": { "cmd": ["mine"], "args": [] } }, "conditions": ["a"],
        }));
        let users = map(json!({
            "timeout": "5m", "idle": "2m", "trust": "always", "icons": "ascii", "conditions": ["b"],
            "harnesses": { "claude": { "cmd": ["other"] }, "command": { "cmd": ["tool"] } },
        }));
        let expected = json!({
            "timeout": "90s", "idle": "2m", "trust": "always", "conditions": ["a", "b"],
            "harnesses": { "claude": { "cmd": ["mine"], "args": [] }, "command": { "cmd": ["tool"] } },
            "driver": "process", "headless": true, "command": true,
        });
        assert_eq!(Value::Object(merged(kept, &users)), expected);
    }
}

//! The options that `config.json` may hold. The table is the editor's: `scripts/docs.sh` writes it from
//! `lua/superpower/base/options.lua`.

use serde::Deserialize;
use serde_json::{Map, Value};
use std::sync::LazyLock;
use superpower::config::parse_duration;
use superpower::suggest::did_you_mean;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Described {
    path: String,
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(default, rename = "enum")]
    values: Vec<String>,
    /// What a list may hold; anything if empty.
    #[serde(default)]
    items: Vec<String>,
    min: Option<i64>,
    /// The keys of each value of a map.
    #[serde(default)]
    item: Map<String, Value>,
    #[serde(default)]
    engine: bool,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Kind {
    String,
    Boolean,
    Integer,
    Enum,
    Duration,
    List,
    Map,
    Functions,
    Function,
}

static TABLE: LazyLock<Vec<Described>> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../../schema/options.json")).expect("the table"));

/// Of the file alone: where our state is, and its schema.
const STATE_DIR: &str = "state_dir";
const SCHEMA: &str = "$schema";

/// Whether the engine takes the option.
pub fn is_for_engine(name: &str) -> bool {
    matches!(name, STATE_DIR | "conditions")
        || TABLE.iter().any(|option| option.engine && option.path == name)
}

/// What is wrong, with the full path of each option.
pub fn problems(options: &Map<String, Value>) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, value) in options {
        let inner = format!("{name}.");
        let group: Vec<&str> = TABLE.iter().filter_map(|option| option.path.strip_prefix(&inner)).collect();
        match value {
            _ if name == SCHEMA => {}
            _ if name == STATE_DIR => {
                if !value.as_str().is_some_and(|dir| dir.starts_with('/')) {
                    problems.push(expected(name, "an absolute path", value));
                }
            }
            Value::Object(values) if !group.is_empty() => {
                for (key, value) in values {
                    check(&format!("{inner}{key}"), key, group.iter().copied(), value, &mut problems);
                }
            }
            _ if !group.is_empty() => problems.push(expected(name, "an object", value)),
            _ => check(name, name, names(), value, &mut problems),
        }
    }
    problems.sort();
    problems
}

/// The names at the top.
fn names() -> impl Iterator<Item = &'static str> {
    let known = TABLE.iter().map(|option| option.path.split('.').next().unwrap_or_default());
    known.chain([STATE_DIR])
}

fn check<'a>(
    path: &str,
    name: &str,
    near: impl Iterator<Item = &'a str>,
    value: &Value,
    problems: &mut Vec<String>,
) {
    match TABLE.iter().find(|option| option.path == path) {
        None => problems.push(format!("{path}: unknown option{}", did_you_mean(name, near))),
        Some(option) => option.check(value, problems),
    }
}

impl Described {
    fn check(&self, value: &Value, problems: &mut Vec<String>) {
        let fits = match self.kind {
            Kind::String => value.is_string(),
            Kind::Boolean => value.is_boolean(),
            Kind::Integer => value.as_i64().is_some_and(|number| self.min.is_none_or(|min| number >= min)),
            Kind::Enum => value.as_str().is_some_and(|word| self.values.iter().any(|known| known == word)),
            Kind::Duration => value.as_str().is_some_and(is_duration),
            Kind::List | Kind::Functions => is_list(value),
            Kind::Map => value.is_object(),
            Kind::Function => false,
        };
        if !fits {
            problems.push(expected(&self.path, &self.wanted(), value));
        } else if let Kind::Map = self.kind {
            self.check_entries(value, problems);
        } else if let Some(item) = self.unknown_item(value) {
            let hint = did_you_mean(item, self.items.iter().map(String::as_str));
            problems.push(format!("{}: unknown value \"{item}\"{hint}", self.path));
        }
    }

    fn unknown_item<'a>(&self, list: &'a Value) -> Option<&'a str> {
        let limited = list.as_array().filter(|_| !self.items.is_empty());
        let mut items = limited.into_iter().flatten().filter_map(Value::as_str);
        items.find(|item| !self.items.iter().any(|known| known == item))
    }

    fn wanted(&self) -> String {
        match self.kind {
            Kind::String => "a string".into(),
            Kind::Boolean => "true or false".into(),
            Kind::Integer => match self.min {
                Some(min) => format!("an integer of {min} or more"),
                None => "an integer".into(),
            },
            Kind::Enum => format!("\"{}\"", self.values.join("\" or \"")),
            Kind::Duration => "a number with s, m or h, such as \"30m\"".into(),
            Kind::List => "a list of strings".into(),
            Kind::Map => "an object".into(),
            Kind::Functions => "a list of names, whose functions are in an editor's configuration".into(),
            Kind::Function => "nothing: a function is in an editor's configuration".into(),
        }
    }

    fn check_entries(&self, value: &Value, problems: &mut Vec<String>) {
        for (name, entry) in value.as_object().into_iter().flatten() {
            let at = format!("{}.{name}", self.path);
            let Some(entry) = entry.as_object() else {
                problems.push(expected(&at, "an object", entry));
                continue;
            };
            for (key, item) in entry {
                if !self.item.contains_key(key) {
                    let hint = did_you_mean(key, self.item.keys().map(String::as_str));
                    problems.push(format!("{at}.{key}: unknown option{hint}"));
                } else if !is_list(item) {
                    problems.push(expected(&format!("{at}.{key}"), "a list of strings", item));
                }
            }
        }
    }
}

/// As the editor reads it: no sign, no zero in front.
fn is_duration(text: &str) -> bool {
    text.starts_with(|digit: char| matches!(digit, '1'..='9')) && parse_duration(text).is_some()
}

fn is_list(value: &Value) -> bool {
    value.as_array().is_some_and(|items| items.iter().all(Value::is_string))
}

fn expected(path: &str, wanted: &str, value: &Value) -> String {
    let mut shown = value.to_string();
    if shown.chars().count() > 60 {
        shown = shown.chars().take(57).chain(['…']).collect();
    }
    format!("{path}: expected {wanted}, got {shown}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(options: Value) -> Vec<String> {
        problems(options.as_object().unwrap())
    }

    #[test]
    fn what_is_data_is_fine() {
        let fine = json!({
            "$schema": "x", "harness": "command", "trust": "always", "timeout": "30m", "keep_runs": 3,
            "harnesses": { "command": { "cmd": ["tool", "{agent}"], "args": [] } }, "places": ["tools"],
            "conditions": ["story.has_api"], "attention": ["bell"], "progress": { "open": false }, "state_dir": "/var/tmp/x",
        });
        assert_eq!(of(fine), [""; 0]);
        assert!(TABLE.iter().filter(|option| option.engine).all(|option| is_for_engine(&option.path)));
    }

    #[test]
    fn each_problem_is_named_at_its_full_path() {
        for (options, problem) in [
            (json!({ "harnes": "x" }), "harnes: unknown option (did you mean \"harness\"?)"),
            (json!({ "trust": "maybe" }), "trust: expected \"ask\" or \"always\", got \"maybe\""),
            (json!({ "timeout": 5 }), "timeout: expected a number with s, m or h, such as \"30m\", got 5"),
            (
                json!({ "timeout": "+5m" }),
                "timeout: expected a number with s, m or h, such as \"30m\", got \"+5m\"",
            ),
            (json!({ "keep_runs": 0 }), "keep_runs: expected an integer of 1 or more, got 0"),
            (json!({ "progress": 1 }), "progress: expected an object, got 1"),
            (
                json!({ "progress": { "widht": 1 } }),
                "progress.widht: unknown option (did you mean \"width\"?)",
            ),
            (json!({ "gate": { "delay": 10 } }), "gate.delay: expected an integer of 300 or more, got 10"),
            (json!({ "harnesses": [] }), "harnesses: expected an object, got []"),
            (
                json!({ "harnesses": { "claude": { "cmd": "claude" } } }),
                "harnesses.claude.cmd: expected a list of strings, got \"claude\"",
            ),
            (
                json!({ "harnesses": { "claude": { "cdm": [] } } }),
                "harnesses.claude.cdm: unknown option (did you mean \"cmd\"?)",
            ),
            (
                json!({ "prompt": "x" }),
                "prompt: expected nothing: a function is in an editor's configuration, got \"x\"",
            ),
            (
                json!({ "attention": ["notify", "bel"] }),
                "attention: unknown value \"bel\" (did you mean \"bell\"?)",
            ),
            (json!({ "state_dir": "here" }), "state_dir: expected an absolute path, got \"here\""),
        ] {
            assert_eq!(of(options), [problem]);
        }
    }
}

//! The table of keys as a JSON Schema, for authors who use other editors.
//!
//! The schema is weaker than the checker, which also knows the project and the references, but never stricter: a test
//! runs both on every fixture and compares the results as far as a schema can express them.

use super::RESERVED;
use crate::declaration::keys::{Key, Level, Takes};
use serde_json::{Map, Value, json};

/// Pattern of names that become arguments of a program.
const ARGUMENT: &str = "^[A-Za-z0-9_][A-Za-z0-9._:/-]*$";
const KEBAB: &str = "^[a-z0-9]+(-[a-z0-9]+)*$";
const KEBAB_NO_NUMBER: &str = "^(?![0-9]+$)[a-z0-9]+(-[a-z0-9]+)*$";
const DURATION: &str = "^(?=.*[1-9])([0-9]+h)?([0-9]+m)?([0-9]+s)?$";
const VERSION: &str =
    "^(0|[1-9][0-9]*)(\\.(0|[1-9][0-9]*)(\\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?(\\+[0-9A-Za-z.-]+)?)?)?$";
/// Meaningless keys that look like a gate: whole words, with any separator.
const GATES: &str = concat!(
    "(((.*[^A-Za-z0-9])?([Gg]ate[sd]?|[Ss]ign[ _-]?off|humangate|humanapproval)([^a-z0-9].*)?)",
    "|(.*[a-z0-9](Gate[sd]?|SignOff)([^a-z].*)?)",
    "|((.*[^A-Za-z0-9])?[Aa]pprov.*)|(.*[a-z0-9]Approv.*))$"
);

/// The schema, in draft 7, which editors' YAML servers support best.
pub fn json_schema() -> Value {
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), json!("http://json-schema.org/draft-07/schema#"));
    schema.insert("title".to_owned(), json!("superpower"));
    schema.insert(
        "description".to_owned(),
        json!("A superpower: a named, versioned list of stages, each with an action, a gate, or both."),
    );
    schema.append(&mut mapping(Level::Top));
    Value::Object(schema)
}

fn mapping(level: Level) -> Map<String, Value> {
    let mut shape = Map::new();
    shape.insert("type".to_owned(), json!("object"));
    let required: Vec<&str> = level.keys().filter(|key| key.required).map(|key| key.name).collect();
    if !required.is_empty() {
        shape.insert("required".to_owned(), json!(required));
    }
    let properties: Map<String, Value> =
        level.keys().map(|key| (key.name.to_owned(), property(key))).collect();
    shape.insert("properties".to_owned(), Value::Object(properties));
    let known: Vec<&str> = level.keys().map(|key| key.name).collect();
    let gates = format!("^(?!x-|({})$){GATES}", known.join("|"));
    // Other unknown keys are warnings in the checker, and a schema has no warnings.
    shape.insert("patternProperties".to_owned(), json!({ gates: false, "^<<$": false }));
    match level {
        Level::Input => {
            shape.insert(
                "if".to_owned(),
                json!({ "properties": { "type": { "const": "enum" } }, "required": ["type"] }),
            );
            shape.insert("then".to_owned(), json!({
                "required": ["enum"],
                "properties": { "enum": { "type": "array", "minItems": 1 }, "default": { "type": ["string", "null"] } },
            }));
            shape.insert(
                "else".to_owned(),
                json!({
                    "properties": { "enum": { "type": "null" } },
                    "if": { "properties": { "type": { "const": "bool" } }, "required": ["type"] },
                    "then": { "properties": { "default": { "type": ["boolean", "null"] } } },
                    "else": { "properties": { "default": { "type": ["string", "null"] } } },
                }),
            );
        }
        Level::Stage => {
            let one = |name: &str| json!({ "required": [name] });
            let two = |a: &str, b: &str| json!({ "required": [a, b] });
            shape.insert(
                "anyOf".to_owned(),
                json!([one("agent"), one("skill"), one("pipeline"), one("gate")]),
            );
            let both = [two("agent", "skill"), two("agent", "pipeline"), two("skill", "pipeline")];
            shape.insert("not".to_owned(), json!({ "anyOf": both }));
            shape.insert("dependencies".to_owned(), json!({ "rework": ["gate"] }));
        }
        Level::Expects => {
            shape.insert("anyOf".to_owned(), json!([{ "required": ["files"] }, { "required": ["verdict"] }]));
        }
        Level::Top => {}
    }
    shape
}

fn property(key: &Key) -> Value {
    let mut shape = takes(key);
    // Optional keys may be empty, except those that decide who acts or waits.
    let decides = matches!(key.name, "agent" | "skill" | "pipeline" | "gate" | "rework");
    if !key.required && !decides {
        match shape.get_mut("type") {
            Some(Value::Array(types)) => types.push(json!("null")),
            Some(kind) => *kind = json!([kind.clone(), "null"]),
            None => {}
        }
        if let Some(Value::Array(words)) = shape.get_mut("enum") {
            words.push(Value::Null);
        }
    }
    shape.insert("description".to_owned(), json!(key.help));
    Value::Object(shape)
}

fn takes(key: &Key) -> Map<String, Value> {
    let shape = match key.takes {
        Takes::Prose => json!({ "type": "string" }),
        Takes::Condition => json!({ "type": "string", "pattern": "\\S" }),
        Takes::Version => json!({ "type": "string", "pattern": VERSION }),
        Takes::Name => json!({ "type": "string", "pattern": name(key.level) }),
        Takes::Agent | Takes::Skill | Takes::Harness => json!({ "type": "string", "pattern": ARGUMENT }),
        Takes::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        Takes::Stages => json!({ "type": "array", "items": { "type": "string", "pattern": KEBAB } }),
        Takes::Bool => json!({ "type": "boolean" }),
        Takes::Count => json!({ "type": "integer", "minimum": 1 }),
        Takes::Duration => json!({ "type": "string", "pattern": DURATION }),
        Takes::Word(words) => {
            json!({ "type": "string", "enum": words.iter().map(|(word, _)| *word).collect::<Vec<_>>() })
        }
        Takes::Stage => json!({ "type": ["string", "integer"] }),
        Takes::Value => json!({ "type": ["string", "number", "boolean"] }),
        Takes::Values => json!({
            "type": "object",
            "additionalProperties": { "type": ["string", "number", "boolean", "null"] },
        }),
        Takes::List(level) => {
            let mut list = Map::new();
            list.insert("type".to_owned(), json!("array"));
            if key.required {
                list.insert("minItems".to_owned(), json!(1));
            }
            list.insert("items".to_owned(), Value::Object(mapping(level)));
            return list;
        }
        Takes::Mapping(level) => return mapping(level),
    };
    match shape {
        Value::Object(shape) => shape,
        _ => Map::new(),
    }
}

/// The pattern of names at this level.
fn name(level: Level) -> String {
    match level {
        Level::Top => KEBAB.to_owned(),
        Level::Input => format!("^(?!({})$)[A-Za-z_][A-Za-z0-9_-]*$", RESERVED.join("|")),
        Level::Stage => KEBAB_NO_NUMBER.to_owned(),
        // A verdict may be the value of an input.
        Level::Expects => "^(?!(FAIL|BLOCKED)$)".to_owned(),
    }
}

//! Tables of diagnostics, keys and operations, for the help page and completion, so that they match the code.

use crate::declaration::keys::{Key, Level, Takes};
use crate::diagnostic::Code;
use crate::engine::op::Lane;
use serde_json::{Map, Value, json};

/// Diagnostic codes, declaration keys, and operations with their lanes.
pub fn schema(lanes: impl Iterator<Item = (&'static str, Lane)>) -> Value {
    let lanes: Vec<_> = lanes.collect();
    json!({
        "codes": Code::ALL.iter().map(code).collect::<Vec<_>>(),
        "keys": Level::ALL.iter().flat_map(|level| level.keys()).map(key).collect::<Vec<_>>(),
        "operations": lanes.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "lanes": lanes.iter().map(|(name, lane)| ((*name).to_owned(), json!(lane.word()))).collect::<Map<_, _>>(),
    })
}

fn code(code: &Code) -> Value {
    json!({ "code": code.as_str(), "severity": code.severity().number(), "help": code.help().trim() })
}

fn key(key: &Key) -> Value {
    let mut shown = json!({
        "level": key.level.called(),
        "name": key.name,
        "takes": key.takes.called(),
        "required": key.required,
        "help": key.help,
    });
    if let Takes::Word(words) = key.takes {
        shown["words"] = words.iter().map(|(word, help)| json!({ "name": word, "help": help })).collect();
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_and_key_has_a_help_sentence() {
        let schema = schema(std::iter::empty());
        for (table, least) in [("codes", 30), ("keys", 20)] {
            let entries = schema[table].as_array().unwrap();
            assert!(entries.len() >= least, "{table}");
            for entry in entries {
                let help = entry["help"].as_str().unwrap();
                assert!(help.ends_with('.') && !help.starts_with(' ') && !help.contains("  "), "{entry}");
            }
        }
    }
}

//! Thousands of random texts.

use crate::check_fixtures::fixtures;
use crate::invariants::{
    bytes_are_checked, condition_is_parsed, edits_are_followed, place_is_assisted, template_is_rendered,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};
use superpower::diagnostic::Severity;

/// Pieces with a meaning in YAML, conditions or templates.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    const KNOWN: &[&str] = &[
        "\n",
        "  ",
        "- ",
        ": ",
        "#",
        " #",
        "\"",
        "'",
        "[",
        "]",
        "{",
        "}",
        "{{",
        "}}",
        "|\n",
        ">\n",
        "&a ",
        "*a",
        "!t ",
        "\t",
        "\r\n",
        "---\n",
        "<<: ",
        "~",
        "null",
        "true",
        "1.0",
        "é",
        "𝄞",
        "\u{feff}",
        "\u{a0}",
        "\0",
        "\\u00e9",
        "\\",
        "%",
        "@",
        ",",
        "&&",
        "||",
        "==",
        "!=",
        "(",
        ")",
        "name",
        "stages:\n",
        "gate",
        "when: ",
        "{{epic}}",
        "{{stages.1.result}}",
        "depends_on: [",
        "story.ui_true",
        "inputs:\n",
        "  - agent: a\n",
    ];
    prop_oneof![4 => select(KNOWN).prop_map(|text| text.as_bytes().to_vec()), 1 => any::<Vec<u8>>().prop_map(|mut bytes| { bytes.truncate(3); bytes })]
}

/// Bytes that a failing test prints as text.
#[derive(Clone)]
struct Shown(Vec<u8>);

impl std::fmt::Debug for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(&self.0))
    }
}

fn mutated() -> impl Strategy<Value = Shown> {
    let all: Vec<Vec<u8>> =
        fixtures().into_iter().map(|(_, bytes, _)| bytes).filter(|bytes| bytes.len() < 4_000).collect();
    let change = (any::<Index>(), any::<Index>(), piece());
    (select(all), prop::collection::vec(change, 1..6)).prop_map(|(mut bytes, changes)| {
        for (at, length, piece) in changes {
            let start = at.index(bytes.len() + 1);
            let end = (start + length.index(12)).min(bytes.len());
            bytes.splice(start..end, piece);
        }
        Shown(bytes)
    })
}

fn words() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..14)
        .prop_map(|pieces| String::from_utf8_lossy(&pieces.concat()).into_owned())
}

/// A valid declaration as data: inputs of every type, and stages that refer to them and to each other.
fn right() -> impl Strategy<Value = Value> {
    let word = "[a-z][a-z0-9]{0,6}";
    let prose = "[ -~äé𝄞]{0,30}".prop_map(|text| text.replace("{{", "{ "));
    let input = (0..3u8, any::<bool>(), prose.clone()).prop_map(|(kind, required, description)| {
        let mut input = json!({ "description": description, "required": required });
        match kind {
            0 => input["type"] = json!("string"),
            1 => {
                input["type"] = json!("bool");
                if !required {
                    input["default"] = json!(true);
                }
            }
            _ => {
                input["type"] = json!("enum");
                input["enum"] = json!(["full", "tokens only", "1.0", "no", "true", ""]);
                if !required {
                    input["default"] = json!("1.0");
                }
            }
        }
        input
    });
    let stage = (0..5u8, any::<[bool; 6]>(), any::<[Index; 3]>(), prose);
    (word, prop::collection::vec(input, 0..4), prop::collection::vec(stage, 1..6)).prop_map(|(name, mut inputs, stages)| {
        for (at, input) in inputs.iter_mut().enumerate() {
            input["name"] = json!(format!("in_{at}"));
        }
        let stages: Vec<Value> = stages.into_iter().enumerate().map(|(at, (kind, with, index, prose))| {
            let mut stage = json!({ "name": format!("stage-{at}"), "description": prose });
            match kind {
                0 => stage["agent"] = json!("qa"),
                1 => stage["skill"] = json!("gherkin-authoring"),
                2 => stage["pipeline"] = json!("standard"),
                _ => stage["gate"] = json!("human-approval"),
            }
            let before = (at > 0).then(|| format!("stage-{}", index[0].index(at.max(1))));
            let variable = (!inputs.is_empty()).then(|| format!("{{{{in_{}}}}}", index[1].index(inputs.len().max(1))));
            if let Some(before) = before {
                if with[0] {
                    stage["depends_on"] = json!([before]);
                }
                if with[1] && kind < 4 {
                    stage["gate"] = json!("human-approval");
                    stage["rework"] = json!(before);
                }
                if with[2] {
                    stage["inputs"] = json!({ "after": format!("{{{{stages.{before}.result}}}}"), "n": 3, "b": false });
                }
            }
            if let Some(variable) = variable {
                if with[3] {
                    stage["when"] = json!(format!("{variable} == '' || !story.ui_true && {variable}"));
                }
                if with[4] {
                    stage["expects"] = json!({ "files": [format!("docs/{variable}/*.md")], "verdict": "PASS" });
                }
            }
            if with[5] {
                stage["timeout"] = json!("1h30m");
                stage["max_attempts"] = json!(2);
            }
            stage
        }).collect();
        json!({ "name": name, "description": "d", "version": "1.10", "inputs": inputs, "stages": stages })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_fixtures_are_checked_consistently(bytes in mutated(), part: u16) {
        let bytes = bytes.0;
        let checked = bytes_are_checked(&bytes);
        edits_are_followed(checked.source.text());
        place_is_assisted(&String::from_utf8_lossy(&bytes), part);
    }

    #[test]
    fn random_fragments_are_checked_consistently(text in words(), part: u16) {
        place_is_assisted(&text, part);
        bytes_are_checked(text.as_bytes());
        edits_are_followed(&text);
        condition_is_parsed(&text);
        template_is_rendered(&text);
    }

    #[test]
    fn valid_declarations_pass_in_any_yaml_style(document in right(), as_json: bool) {
        // JSON is valid YAML, and other tools write it.
        let json = document.to_string();
        let yaml: serde_yaml::Value = serde_yaml::from_str(&json).unwrap();
        let text = if as_json { json } else { serde_yaml::to_string(&yaml).unwrap() };
        let checked = bytes_are_checked(text.as_bytes());
        let wrong: Vec<String> = checked.lines("").into_iter().zip(&checked.diagnostics)
            .filter(|(_, fault)| fault.severity == Severity::Error).map(|(line, _)| line).collect();
        prop_assert!(wrong.is_empty(), "{:?}\n{}", wrong, text);
        let declaration = checked.declaration.unwrap();
        // Another YAML parser must read the same values.
        let other: serde_yaml::Value = serde_yaml::from_str(&text).unwrap();
        prop_assert_eq!(&other, &yaml);
        for (stage, expected) in declaration.stages.iter().zip(document["stages"].as_array().unwrap()) {
            prop_assert_eq!(&stage.description.as_ref().unwrap().value, expected["description"].as_str().unwrap());
            prop_assert_eq!(stage.gate.is_some(), expected.get("gate").is_some());
            prop_assert_eq!(stage.when.is_some(), expected.get("when").is_some());
            prop_assert_eq!(stage.inputs.len(), expected.get("inputs").map_or(0, |inputs| inputs.as_object().unwrap().len()));
        }
        for (input, expected) in declaration.inputs.iter().zip(document["inputs"].as_array().unwrap()) {
            prop_assert_eq!(&input.name.value, expected["name"].as_str().unwrap());
            let default = expected.get("default").map(|default| default.as_str().map_or_else(|| default.to_string(), str::to_owned));
            prop_assert_eq!(input.default.as_ref().map(|default| default.value.clone()), default);
        }
    }
}

/// A regression found by random tests: a multi-byte character after what looks like a merge key.
#[test]
fn a_merge_key_before_a_wide_character_is_checked_soundly() {
    for text in [
        "<<: - \u{fffd}{\0",
        "<<: \u{fffd}",
        "<<:\u{fffd}",
        "<<: {\u{fffd}",
        "a: {b:\u{fffd}c}",
        "a: {<<:\u{a0}\u{fffd}",
    ] {
        bytes_are_checked(text.as_bytes());
        edits_are_followed(text);
    }
}

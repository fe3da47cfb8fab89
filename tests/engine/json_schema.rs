//! The JSON Schema in the repository is generated from the table of keys, and agrees with the checker.

use crate::check_fixtures::fixtures;
use crate::world::shared;
use serde_json::{Map, Value};
use std::path::Path;
use superpower::check::{Checked, check, check_bytes, json_schema};
use superpower::declaration::keys::looks_like_gate;
use superpower::declaration::scalar::Core;
use superpower::declaration::yaml::{Kind, NodeId};
use superpower::diagnostic::{Code, Diagnostic, Severity};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_schema_file_matches_the_table() {
    let path = root().join("schema/superpower.schema.json");
    let text = format!("{}\n", serde_json::to_string_pretty(&json_schema()).unwrap());
    if std::env::var_os("UPDATE_FIXTURES").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &text).unwrap();
    }
    let shipped = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(shipped, text, "UPDATE_FIXTURES=1 cargo test json_schema writes it anew");
}

/// The document as other tools read it, by YAML's core schema.
fn value(checked: &Checked, id: NodeId) -> Value {
    let tree = &checked.tree;
    let (id, _) = tree.resolve(id);
    match &tree.node(id).kind {
        Kind::Sequence(items) => items.iter().map(|item| value(checked, *item)).collect(),
        Kind::Mapping(pairs) => {
            let key = |id: NodeId| match &tree.node(id).kind {
                Kind::Scalar { text, .. } => text.clone(),
                _ => String::new(),
            };
            Value::Object(
                pairs.iter().map(|(id, inner)| (key(*id), value(checked, *inner))).collect::<Map<_, _>>(),
            )
        }
        Kind::Scalar { text, .. } => match tree.core(id) {
            Some(Core::Null) | None => Value::Null,
            Some(Core::Bool(value)) => Value::Bool(value),
            Some(Core::Int | Core::Float) => {
                // As a JSON number if possible: "012" and ".5" are the same numbers in another notation.
                let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
                text.parse::<i64>()
                    .map(Value::from)
                    .ok()
                    .or_else(|| number.map(Value::from))
                    .unwrap_or(Value::Bool(true))
            }
            Some(Core::Text) => Value::String(text.clone()),
        },
        Kind::Alias(_) => Value::Null,
    }
}

/// Whether a schema can find this problem. It knows neither the project nor references between stages.
fn expressible(fault: &Diagnostic) -> bool {
    let last = fault.path.rsplit('.').next().unwrap_or_default();
    match fault.code {
        Code::MissingField => !fault.message.starts_with("the file is empty"),
        // JSON has only text keys.
        Code::WrongType => !fault.message.contains("a key must be a word"),
        Code::InvalidVersion
        | Code::EmptyStages
        | Code::EmptyStage
        | Code::ManyActions
        | Code::UnknownGate
        | Code::UnknownPipeline
        | Code::UnknownType => true,
        Code::InvalidName => !fault.message.contains("does not match the file name"),
        Code::MisplacedField => !fault.message.contains("is not a gate") || looks_like_gate(last),
        // A schema can express neither the maximum time nor the notation of a number.
        Code::InvalidValue => {
            (last == "timeout" && !fault.message.contains("99999"))
                || fault.message.contains("\"expects\" is empty")
        }
        Code::InvalidDefault => !fault.message.contains("is not in \"enum\""),
        _ => false,
    }
}

#[test]
fn schema_and_checker_agree_on_every_fixture() {
    let validator = jsonschema::draft7::new(&json_schema()).unwrap();
    let (mut compared, mut wrong) = (0, Vec::new());
    for (path, bytes, context) in fixtures() {
        let checked = check_bytes(&bytes, &context);
        let errors = || checked.diagnostics.iter().filter(|fault| fault.severity == Severity::Error);
        let unreadable = [Code::YamlSyntax, Code::DuplicateKey, Code::Limit];
        let Some(document) =
            checked.tree.root().filter(|_| !errors().any(|fault| unreadable.contains(&fault.code)))
        else {
            continue;
        };
        compared += 1;
        let name = path.file_name().unwrap().to_string_lossy();
        let document = value(&checked, document);
        let refused = !validator.is_valid(&document);
        let why = validator.iter_errors(&document).map(|error| error.to_string()).collect::<Vec<_>>();
        if refused && errors().next().is_none() {
            wrong.push(format!("{name}: only the schema refuses it: {why:?}"));
        }
        if let Some(fault) = errors().find(|fault| expressible(fault)).filter(|_| !refused) {
            wrong.push(format!("{name}: only the checker refuses it: {}: {}", fault.path, fault.message));
        }
    }
    assert!(compared > 150, "{compared}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Compares every declaration below the directory with the schema, and returns their number.
fn valid(folder: &Path) -> usize {
    let validator = jsonschema::draft7::new(&json_schema()).unwrap();
    let (mut seen, mut waiting) = (0, vec![folder.to_owned()]);
    while let Some(at) = waiting.pop() {
        for path in std::fs::read_dir(&at).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|it| it == "yaml") && !path.ends_with("schema.yaml") {
                let text = std::fs::read_to_string(&path).unwrap();
                let checked = check(&text, &superpower::check::Context::default());
                let document = value(&checked, checked.tree.root().unwrap());
                let why: Vec<String> =
                    validator.iter_errors(&document).map(|error| error.to_string()).collect();
                assert!(why.is_empty() && checked.declaration.is_some(), "{}: {why:?}", path.display());
                seen += 1;
            }
        }
    }
    seen
}

#[test]
fn declarations_that_run_match_the_schema() {
    assert_eq!(valid(&root().join("examples/shop/.claude/superpowers")), 4);
}

#[test]
#[cfg_attr(not(shared), ignore = "what others wrote is not beside the repository")]
fn what_others_run_is_valid() {
    assert_eq!(valid(&shared("superpowers")) + valid(&shared("taffy")), 9);
}

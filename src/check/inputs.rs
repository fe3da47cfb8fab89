//! Checks inputs: names, types and defaults.

use crate::condition::is_input_name;
use crate::declaration::draft::{Draft, DraftInput, Slot, Text};
use crate::declaration::keys::TYPES;
use crate::declaration::scalar::Core;
use crate::declaration::yaml_writer::{plain_or_quoted, quoted};
use crate::declaration::{Sink, type_mismatch};
use crate::diagnostic::{Code, Edit};
use crate::source::Span;
use std::collections::HashMap;

/// Names that commands use themselves.
pub const RESERVED: [&str; 2] = ["harness", "answer"];

/// Judges every input.
pub fn check(sink: &mut Sink<'_>, draft: &Draft) {
    let mut first: HashMap<&str, Span> = HashMap::new();
    for input in &draft.inputs {
        if let Some(name) = &input.name {
            check_name(sink, name);
            let here = sink.tree.node(name.slot.node).span;
            match first.get(name.value.as_str()) {
                None => {
                    first.insert(&name.value, here);
                }
                Some(&earlier) => {
                    let message = format!("duplicate input \"{}\"", name.value);
                    sink.at(Code::DuplicateInput, &name.slot, message).related(earlier, "first here");
                }
            }
        }
        check_type(sink, input);
        check_default(sink, input);
    }
}

fn check_name(sink: &mut Sink<'_>, name: &Text) {
    let value = name.value.as_str();
    if RESERVED.contains(&value) {
        let message =
            format!("invalid input name \"{value}\": \"{value}=…\" has its own meaning in commands");
        sink.at(Code::InvalidName, &name.slot, message);
    } else if !is_input_name(value) {
        let near: String = value
            .trim()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '_' })
            .collect();
        let message = format!(
            "invalid input name \"{value}\"; use a-z, A-Z, digits, \"_\" and \"-\", and start with a letter or \"_\""
        );
        let report = sink.at(Code::InvalidName, &name.slot, message);
        if is_input_name(&near) {
            report.fix(format!("change to \"{near}\""), plain_or_quoted(&near));
        }
    }
}

fn check_type(sink: &mut Sink<'_>, input: &DraftInput) {
    let kind = input.kind.as_ref().map_or("string", |kind| kind.value.as_str());
    if let Some(text) = input.kind.as_ref().filter(|text| TYPES.iter().all(|(name, _)| *name != text.value)) {
        let other = match kind.to_ascii_lowercase().as_str() {
            "boolean" | "flag" => Some("bool"),
            "text" | "str" | "number" | "int" | "integer" | "float" => Some("string"),
            "choice" | "select" | "list" | "options" => Some("enum"),
            _ => None,
        };
        let near = other.or_else(|| sink.nearest(kind, TYPES.iter().map(|(name, _)| *name)));
        let hint = near.map_or_else(
            || "; expected string, bool or enum".to_owned(),
            |near| format!(" (did you mean \"{near}\"?)"),
        );
        let report = sink.at(Code::UnknownType, &text.slot, format!("unknown type \"{kind}\"{hint}"));
        if let Some(near) = near {
            report.fix(format!("change to \"{near}\""), near);
        }
        return;
    }
    match (&input.values, kind) {
        (Some((values, slot)), "enum") => {
            if values.is_empty() && is_empty_list(sink, slot) && !sink.tree.is_unfinished(slot.node) {
                sink.at(
                    Code::MissingField,
                    slot,
                    "\"enum\" has no values: an input of type enum needs at least one",
                );
            }
        }
        (None, "enum") => {
            if let Some(kind) = input
                .kind
                .as_ref()
                .filter(|_| !has_key(sink, input, "enum") && !sink.may_lack_keys(input.slot.node))
            {
                let slot = Slot { path: input.slot.path.missing("enum"), ..kind.slot };
                sink.at(
                    Code::MissingField,
                    &slot,
                    "\"enum\" is missing: an input of type enum needs its values",
                );
            }
        }
        (Some((_, slot)), _) => {
            let flow = sink.tree.node(input.slot.node).flow;
            let line =
                format!("{}{}", sink.line_break(), " ".repeat(sink.source.position(slot.key.start).col));
            let report = sink.at_key(
                Code::MisplacedField,
                slot,
                format!("\"enum\" is only for inputs of type enum, not {kind}"),
            );
            let edit = match &input.kind {
                Some(kind) => Edit { span: report.tree().node(kind.slot.node).span, text: "enum".to_owned() },
                None if flow => {
                    Edit { span: Span::new(slot.key.start, slot.key.start), text: "type: enum, ".to_owned() }
                }
                None => Edit {
                    span: Span::new(slot.key.start, slot.key.start),
                    text: format!("type: enum{line}"),
                },
            };
            report.edits("change the type to enum", vec![edit]);
        }
        (None, _) => {}
    }
}

fn is_empty_list(sink: &Sink<'_>, slot: &crate::declaration::draft::Slot) -> bool {
    matches!(&sink.tree.node(slot.node).kind, crate::declaration::yaml::Kind::Sequence(items) if items.is_empty())
}

/// Whether the input has the key, whatever its value.
fn has_key(sink: &Sink<'_>, input: &DraftInput, name: &str) -> bool {
    use crate::declaration::yaml::Kind;
    let Kind::Mapping(pairs) = &sink.tree.node(input.slot.node).kind else { return false };
    pairs.iter().any(|(key, value)| {
        matches!(&sink.tree.node(*key).kind, Kind::Scalar { text, .. } if text == name)
            && sink.tree.core(*value) != Some(Core::Null)
    })
}

fn check_default(sink: &mut Sink<'_>, input: &DraftInput) {
    let Some(default) = &input.default else { return };
    let value = default.value.as_str();
    match input.kind.as_ref().map_or("string", |kind| kind.value.as_str()) {
        "bool" if !matches!(default.core, Core::Bool(_)) => {
            let message = format!("the default of a bool must be true or false, not \"{value}\"");
            let report = sink.at(Code::InvalidDefault, &default.slot, message);
            let meant = match value.to_ascii_lowercase().as_str() {
                "true" | "yes" | "on" | "y" | "1" => "true",
                "false" | "no" | "off" | "n" | "0" | "" => "false",
                _ => return,
            };
            report.fix(format!("change to {meant}"), meant);
        }
        "string" | "enum" if default.core != Core::Text => {
            let message = format!(
                "the default must be a text, but {value} is {}: put it in quotes",
                default.core.called()
            );
            sink.at(Code::InvalidDefault, &default.slot, message).fix("put it in quotes", quoted(value));
        }
        "string" => warn(sink, default),
        "enum" => {
            let Some((values, _)) = input.values.as_ref().filter(|(values, _)| !values.is_empty()) else {
                return;
            };
            if values.iter().any(|known| known.value == value) {
                return warn(sink, default);
            }
            let known = || values.iter().map(|known| known.value.as_str());
            let near = sink.nearest(value, known());
            let hint = near.map_or_else(
                || format!("; expected {}", known().collect::<Vec<_>>().join(" or ")),
                |near| format!(" (did you mean \"{near}\"?)"),
            );
            let message = format!("the default \"{value}\" is not in \"enum\"{hint}");
            let report = sink.at(Code::InvalidDefault, &default.slot, message);
            if let Some(near) = near {
                report.fix(format!("change to \"{near}\""), plain_or_quoted(near));
            }
        }
        _ => {}
    }
    if let Some((true, slot)) = &input.required {
        let message =
            "a required input with a default is never asked for: remove \"required\" or \"default\"";
        sink.at(Code::RequiredDefault, slot, message).fix("change to false", "false");
    }
}

fn warn(sink: &mut Sink<'_>, default: &Text) {
    let plain = sink.source.slice(sink.tree.node(default.slot.node).span) == default.value;
    if plain {
        type_mismatch::warn_of_other_reading(sink, default);
    }
}

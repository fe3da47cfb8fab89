//! Checks each stage: actions, gates, limits and expectations.

use super::context::Context;
use super::names::{ARGUMENT, is_argument};
use crate::declaration::Sink;
use crate::declaration::draft::{ActionKey, Draft, DraftStage, Text, duration, gate, pipeline};
use crate::declaration::keys::{GATES, HARNESSES, PIPELINES};
use crate::declaration::model::Gate;
use crate::declaration::yaml_writer::plain_or_quoted;
use crate::diagnostic::{Code, Severity};
use crate::source::Span;

pub fn check(sink: &mut Sink<'_>, draft: &Draft, context: &Context) {
    if let Some(slot) = draft.stages_slot.as_ref().filter(|_| draft.stages.is_empty() && !draft.stages_unsure)
    {
        sink.at(Code::EmptyStages, slot, "\"stages\" is empty: a superpower needs at least one stage");
    }
    for stage in &draft.stages {
        check_actions(sink, stage);
        check_gate(sink, stage);
        check_limits(sink, stage, context);
        check_expects(sink, stage);
    }
}

fn check_actions(sink: &mut Sink<'_>, stage: &DraftStage) {
    if let Some(((_, first), more)) = stage.actions.split_first() {
        for (_, text) in more {
            let message =
                "a stage can have only one action: move this one to a stage of its own, or remove it";
            let removal = sink.removal(text.slot.key, text.slot.node);
            let first_key = first.slot.key;
            let report =
                sink.at_key(Code::ManyActions, &text.slot, message).related(first_key, "the first action");
            if let Some(edit) = removal {
                report.edits("remove this action", vec![edit]);
            }
        }
    } else if stage.gate.is_none() && !stage.unsure {
        let message = "the stage does nothing: add an agent, a skill, a pipeline or a gate";
        let slot = &stage.slot;
        let span = first_line(sink, slot.node);
        sink.at(Code::EmptyStage, slot, message).narrow(span);
    }
    for (key, text) in &stage.actions {
        if *key == ActionKey::Pipeline && pipeline(&text.value).is_none() {
            unknown_word(sink, Code::UnknownPipeline, text, "pipeline", PIPELINES);
        }
    }
}

fn first_line(sink: &Sink<'_>, node: crate::declaration::yaml::NodeId) -> Span {
    let span = sink.tree.node(node).span;
    let end = sink.source.offset(sink.source.position(span.start).line, usize::MAX);
    let line = sink.source.slice(Span::new(span.start, end.min(span.end))).trim_end();
    Span::new(span.start, span.start + line.len())
}

fn check_gate(sink: &mut Sink<'_>, stage: &DraftStage) {
    if let Some(text) = stage.gate.as_ref().filter(|text| gate(&text.value).is_none()) {
        unknown_word(sink, Code::UnknownGate, text, "gate", GATES);
    }
    let Some(rework) = &stage.rework else { return };
    match &stage.gate {
        None if !stage.unsure => {
            let message = "\"rework\" needs a gate, where changes can be requested";
            sink.at_key(Code::MisplacedField, &rework.slot, message);
        }
        Some(text) if gate(&text.value) == Some(Gate::Auto) => {
            let message = "\"rework\" does nothing here: the gate \"auto\" never asks";
            sink.at_key(Code::MisplacedField, &rework.slot, message).severity(Severity::Warning);
        }
        _ => {}
    }
}

/// Reports a word that is not one of the known ones.
fn unknown_word(sink: &mut Sink<'_>, code: Code, text: &Text, what: &str, known: &[(&str, &str)]) {
    let value = text.value.as_str();
    let names = || known.iter().map(|(name, _)| *name);
    let near = sink.nearest(value, names()).or_else(|| synonym(value));
    let hint = near.map_or_else(
        || format!("; expected {}", names().collect::<Vec<_>>().join(" or ")),
        |near| format!(" (did you mean \"{near}\"?)"),
    );
    let report = sink.at(code, &text.slot, format!("unknown {what} \"{value}\"{hint}"));
    if let Some(near) = near {
        report.fix(format!("change to \"{near}\""), near);
    }
}

fn synonym(word: &str) -> Option<&'static str> {
    match word.to_ascii_lowercase().as_str() {
        "human" | "manual" | "approval" | "approve" | "required" | "wait" | "user" | "true" | "yes"
        | "on" => Some("human-approval"),
        "automatic" | "none" | "skip" | "false" | "no" | "off" => Some("auto"),
        _ => None,
    }
}

fn check_limits(sink: &mut Sink<'_>, stage: &DraftStage, context: &Context) {
    if let Some(text) = &stage.harness {
        let value = text.value.as_str();
        let known =
            || HARNESSES.iter().map(|(name, _)| *name).chain(context.harnesses.iter().map(String::as_str));
        if !is_argument(value) || !known().any(|name| name == value) {
            let near = sink.nearest(value, known());
            let hint = near.map_or_else(
                || match is_argument(value) {
                    true => format!("; expected {}", known().collect::<Vec<_>>().join(", ")),
                    false => format!(": {ARGUMENT}"),
                },
                |near| format!(" (did you mean \"{near}\"?)"),
            );
            let report =
                sink.at(Code::InvalidValue, &text.slot, format!("unknown harness \"{value}\"{hint}"));
            if let Some(near) = near {
                report.fix(format!("change to \"{near}\""), plain_or_quoted(near));
            }
        }
    }
    if let Some(text) = stage.timeout.as_ref().filter(|text| duration(&text.value).is_none()) {
        let value = text.value.as_str();
        let digits = !value.is_empty() && value.chars().all(|c| c.is_ascii_digit());
        let message = if digits {
            format!("the timeout {value} has no unit: write {value}s, {value}m or {value}h")
        } else {
            format!("invalid timeout \"{value}\"; write a number with s, m or h, such as 30m (at most 720h)")
        };
        let report = sink.at(Code::InvalidValue, &text.slot, message);
        let near: String = value.chars().filter(|c| !c.is_whitespace()).collect();
        if let Some(near) = near_duration(&near) {
            report.fix(format!("change to {near}"), near);
        }
    }
    if let Some(text) = &stage.max_attempts {
        let value = text.value.as_str();
        if !value.starts_with(|c: char| ('1'..='9').contains(&c)) || value.parse::<u32>().is_err() {
            let message = format!("\"max_attempts\" must be a whole number from 1, not {value}");
            let report = sink.at(Code::InvalidValue, &text.slot, message);
            if value == "0" {
                report.fix("change to 1", "1");
            }
        }
    }
    if stage.actions.is_empty() && stage.gate.is_some() && !stage.unsure {
        let idle = [
            ("harness", stage.harness.as_ref().map(|text| &text.slot)),
            ("timeout", stage.timeout.as_ref().map(|text| &text.slot)),
            ("max_attempts", stage.max_attempts.as_ref().map(|text| &text.slot)),
            ("expects", stage.expects.as_ref().map(|expects| &expects.slot)),
        ];
        for (name, slot) in idle.into_iter().filter_map(|(name, slot)| Some((name, slot?))) {
            let message = format!("\"{name}\" does nothing here: the stage has no action, only a gate");
            sink.at_key(Code::MisplacedField, slot, message).severity(Severity::Warning);
        }
    }
}

/// Reads spellings such as `30 min` or `2 hours` and writes them our way.
fn near_duration(text: &str) -> Option<String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let unit = match text[digits..].to_ascii_lowercase().as_str() {
        "s" | "sec" | "secs" | "second" | "seconds" => 's',
        "m" | "min" | "mins" | "minute" | "minutes" => 'm',
        "h" | "hr" | "hrs" | "hour" | "hours" => 'h',
        _ => return None,
    };
    let near = format!("{}{unit}", &text[..digits]);
    duration(&near).is_some().then_some(near)
}

fn check_expects(sink: &mut Sink<'_>, stage: &DraftStage) {
    let Some(expects) = &stage.expects else { return };
    if !expects.given {
        let message = "\"expects\" is empty: add files or a verdict";
        sink.at_key(Code::InvalidValue, &expects.slot, message);
    }
    for file in &expects.files {
        let value = file.value.as_str();
        let message = if value.trim().is_empty() {
            "the file name is empty".to_owned()
        } else if value.starts_with(['/', '~', '\\']) || value.split(['/', '\\']).any(|part| part == "..") {
            format!("\"{value}\" is outside the project: write a path from its root, without \"..\"")
        } else if let Err(error) = globset::Glob::new(&without_variables(value)) {
            format!("invalid file pattern \"{value}\": {}", error.kind())
        } else {
            continue;
        };
        sink.at(Code::InvalidValue, &file.slot, message);
    }
    if let Some(verdict) = &expects.verdict {
        let value = verdict.value.as_str();
        let message = match value {
            "FAIL" | "BLOCKED" => {
                format!("the verdict {value} always ends the stage, so it cannot be expected: write PASS")
            }
            _ if is_argument(&without_variables(value)) => return,
            _ => format!("invalid verdict \"{value}\"; use one word of a-z and A-Z, such as PASS"),
        };
        sink.at(Code::InvalidValue, &verdict.slot, message);
    }
}

/// The text with a letter in place of each variable.
fn without_variables(text: &str) -> String {
    crate::template::render(text, &|_| Some("x".to_owned()))
}

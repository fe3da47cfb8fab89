//! Scalars of another type than their key takes, and those that other readers take for another type.

use super::draft::{Slot, Text};
use super::keys::{Level, Takes};
use super::scalar::{self, Core};
use super::sink::Sink;
use super::yaml::{Kind, Style};
use super::yaml_writer;
use crate::diagnostic::{Code, Edit, Severity};
use crate::lookalike;
use crate::source::Span;

/// A scalar of another type than the key takes; it is used all the same where its text can be.
pub fn report(sink: &mut Sink<'_>, text: Text, takes: Takes, name: &str) -> Option<Text> {
    let value = text.value.as_str();
    let called = text.core.called();
    match takes {
        Takes::Bool => {
            let meant = match value.to_ascii_lowercase().as_str() {
                "true" | "yes" | "on" | "y" => Some("true"),
                "false" | "no" | "off" | "n" => Some("false"),
                _ => None,
            };
            let report = sink.at(
                Code::WrongType,
                &text.slot,
                format!("\"{name}\" must be true or false, and \"{value}\" is {called}"),
            );
            if let Some(meant) = meant {
                report.fix(format!("change to {meant}"), meant);
            }
            None
        }
        Takes::Count => {
            let number = value.trim().parse::<u32>().ok().filter(|number| *number > 0);
            let report = sink.at(
                Code::WrongType,
                &text.slot,
                format!("\"{name}\" must be a whole number from 1, and \"{value}\" is {called}"),
            );
            if let Some(number) = number {
                report.fix(format!("change to {number}"), number.to_string());
            }
            None
        }
        Takes::Condition => {
            let word = if text.core == Core::Bool(true) { "always" } else { "never" };
            let report = sink.at(
                Code::WrongType,
                &text.slot,
                format!(
                    "\"{name}\" must be a condition, and {value} is {called}{}",
                    match text.core {
                        Core::Bool(_) => format!(": write \"{word}\""),
                        _ => String::new(),
                    }
                ),
            );
            if matches!(text.core, Core::Bool(_)) {
                report.fix(format!("change to \"{word}\""), word);
            }
            None
        }
        // A number there is judged with the unit it lacks.
        Takes::Duration if text.core == Core::Int => Some(text),
        _ => {
            let report = sink.at(
                Code::WrongType,
                &text.slot,
                format!("\"{name}\" must be a text, and {value} is {called}: put it in quotes"),
            );
            let digits = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
            if takes != Takes::Version || value.split('.').all(digits) {
                report.fix("put it in quotes", yaml_writer::quoted(value));
            }
            Some(text)
        }
    }
}

/// Warns of a plain text that a reader of YAML 1.1 does not take for a text.
pub fn warn_of_other_reading(sink: &mut Sink<'_>, text: &Text) {
    let Some(other) = scalar::other_reading(&text.value).filter(|_| text.core != Core::Null) else { return };
    let value = &text.value;
    sink.at(
        Code::WrongType,
        &text.slot,
        format!("a reader of YAML 1.1 takes {value} for {other}: quote it, to be read the same everywhere"),
    )
    .severity(Severity::Warning)
    .fix("put it in quotes", yaml_writer::quoted(value));
}

/// Warns of `!word`, which YAML takes for a tag, and we for nothing. `!!str` and its like are fine.
pub fn warn_of_tag(sink: &mut Sink<'_>, slot: &Slot, takes: Takes) {
    let node = sink.tree.node(slot.node);
    let Some(tag) = node.tag else { return };
    let written = sink.source.slice(tag);
    if written.is_empty() || written.starts_with("!!") || written == "!" {
        return;
    }
    let whole = Span::new(tag.start, node.span.end.max(tag.end));
    let text = sink.source.slice(whole);
    let message = format!("YAML takes \"{written}\" for a tag, not for a part of the text");
    let prose = matches!(takes, Takes::Prose | Takes::Value) && !text.contains('\n');
    let edit = if prose {
        Edit { span: whole, text: yaml_writer::quoted(text) }
    } else {
        Edit { span: Span::new(tag.start, node.span.start.max(tag.end)), text: String::new() }
    };
    let title = if prose { "put the whole in quotes" } else { "remove it" };
    sink.at(Code::WrongType, slot, message).severity(Severity::Warning).narrow(tag).edits(title, vec![edit]);
}

/// Warns of `[a，b]`, which is a list of one text.
pub fn warn_of_comma(sink: &mut Sink<'_>, slot: &Slot) {
    let node = sink.tree.node(slot.node);
    let Kind::Scalar { style: Style::Plain, .. } = &node.kind else { return };
    let written = sink.source.slice(node.span);
    let alike = |c: &char| lookalike::is_like(*c, ",");
    let Some(c) = written.chars().find(alike).filter(|_| slot.alias.is_none()) else { return };
    let edits = written.char_indices().filter(|(_, c)| alike(c)).map(|(at, c)| {
        let (start, end) = (node.span.start + at, node.span.start + at + c.len_utf8());
        let space = if written[at + c.len_utf8()..].starts_with(' ') { "" } else { " " };
        Edit { span: Span::new(start, end), text: format!(",{space}") }
    });
    let edits = edits.collect();
    let at = node.span.start + written.find(c).unwrap_or(0);
    let message = format!("{}, or put the text in quotes if it is one", lookalike::explained(c));
    let report = sink.at(Code::WrongType, slot, message).severity(Severity::Warning);
    report.narrow(Span::new(at, at + c.len_utf8())).edits("change to \",\"", edits);
}

/// `- gate human-approval` and `- agent:qa`: texts to YAML, and meant as a mapping.
pub fn missing_colon(sink: &Sink<'_>, slot: &Slot, level: Level) -> Option<(String, Edit)> {
    let node = sink.tree.node(slot.node);
    let Kind::Scalar { text, .. } = &node.kind else { return None };
    let word = &text[..text.find([':', ' '])?];
    let rest = &text[word.len()..];
    level.key(word)?;
    let at = node.span.start + word.len();
    if sink.source.slice(Span::new(node.span.start, at)) != word {
        return None;
    }
    let (title, at, text) =
        if rest.starts_with(':') { ("add a space", at + 1, " ") } else { ("add \":\"", at, ":") };
    Some((title.to_owned(), Edit { span: Span::new(at, at), text: text.to_owned() }))
}

/// The places of the spaces that are missing where a list is written `-agent: a`.
pub fn missing_dashes(sink: &Sink<'_>, slot: &Slot) -> Vec<Edit> {
    let Kind::Mapping(pairs) = &sink.tree.node(slot.node).kind else { return Vec::new() };
    let keys = pairs.iter().map(|(key, _)| sink.tree.node(*key).span);
    let dashed = keys.filter(|key| sink.source.slice(*key).starts_with('-')).map(|key| key.start + 1);
    dashed.map(|at| Edit { span: Span::new(at, at), text: " ".to_owned() }).collect()
}

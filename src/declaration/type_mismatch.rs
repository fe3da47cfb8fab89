//! Reports scalars of the wrong type, and scalars that other YAML readers read as another type.

use super::draft::{Slot, Text};
use super::keys::{Level, Takes};
use super::scalar::{self, Core};
use super::sink::Sink;
use super::yaml::{Kind, Style};
use super::yaml_writer;
use crate::diagnostic::{Code, Edit, Severity};
use crate::lookalike;
use crate::source::Span;

/// Reports a scalar of the wrong type. Its text is used anyway if possible.
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
                format!("\"{name}\" must be true or false, but \"{value}\" is {called}"),
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
                format!("\"{name}\" must be a whole number from 1, but \"{value}\" is {called}"),
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
                    "\"{name}\" must be a condition, but {value} is {called}{}",
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
        // A number is checked together with its missing unit.
        Takes::Duration if text.core == Core::Int => Some(text),
        _ => {
            let report = sink.at(
                Code::WrongType,
                &text.slot,
                format!("\"{name}\" must be a text, but {value} is {called}: put it in quotes"),
            );
            let digits = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
            if takes != Takes::Version || value.split('.').all(digits) {
                report.fix("put it in quotes", yaml_writer::quoted(value));
            }
            Some(text)
        }
    }
}

/// Warns of a plain text that a YAML 1.1 reader does not read as a text.
pub fn warn_of_other_reading(sink: &mut Sink<'_>, text: &Text) {
    let Some(other) = scalar::other_reading(&text.value).filter(|_| text.core != Core::Null) else { return };
    let value = &text.value;
    sink.at(
        Code::WrongType,
        &text.slot,
        format!("YAML 1.1 readers read {value} as {other}: put it in quotes"),
    )
    .severity(Severity::Warning)
    .fix("put it in quotes", yaml_writer::quoted(value));
}

/// Warns of `!word`, which YAML reads as a tag and we ignore. Standard tags such as `!!str` are fine.
pub fn warn_of_tag(sink: &mut Sink<'_>, slot: &Slot, takes: Takes) {
    let node = sink.tree.node(slot.node);
    let Some(tag) = node.tag else { return };
    let written = sink.source.slice(tag);
    if written.is_empty() || written.starts_with("!!") || written == "!" {
        return;
    }
    let whole = Span::new(tag.start, node.span.end.max(tag.end));
    let text = sink.source.slice(whole);
    let message = format!("YAML reads \"{written}\" as a tag, not as part of the text");
    let prose = matches!(takes, Takes::Prose | Takes::Value) && !text.contains('\n');
    let edit = if prose {
        Edit { span: whole, text: yaml_writer::quoted(text) }
    } else {
        Edit { span: Span::new(tag.start, node.span.start.max(tag.end)), text: String::new() }
    };
    let title = if prose { "put the whole in quotes" } else { "remove it" };
    sink.at(Code::WrongType, slot, message).severity(Severity::Warning).narrow(tag).edits(title, vec![edit]);
}

/// Warns of `[a，b]`, which is a list with one item.
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

/// Finds items such as `- gate human-approval` and `- agent:qa`, which are texts in YAML but were meant as mappings.
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

/// Positions of the missing spaces in a list such as `-agent: a`.
pub fn missing_dashes(sink: &Sink<'_>, slot: &Slot) -> Vec<Edit> {
    let Kind::Mapping(pairs) = &sink.tree.node(slot.node).kind else { return Vec::new() };
    let keys = pairs.iter().map(|(key, _)| sink.tree.node(*key).span);
    let dashed = keys.filter(|key| sink.source.slice(*key).starts_with('-')).map(|key| key.start + 1);
    dashed.map(|at| Edit { span: Span::new(at, at), text: " ".to_owned() }).collect()
}

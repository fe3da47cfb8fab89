//! Completion inside texts: variables in `{{`, and the parts of a condition.

use super::answers::Kind;
use super::context::Value;
use super::hover::{fact_text, input_text, stage_text};
use super::offer::{Offer, first_line, named, values_of};
use crate::condition::{self, Next, WORDS};
use crate::declaration::yaml_writer::quoted;

/// Completes a variable after an open `{{`. Returns whether there is one.
pub fn template(offer: &mut Offer<'_>, value: &Value, in_condition: bool) -> bool {
    let Some(open) = value.before.rfind("{{") else { return false };
    let inner = &value.before[open + 2..];
    if inner.contains("}}") || inner.contains('\n') {
        return false;
    }
    let rest = &offer.text[offer.offset..offer.line.end];
    let close = if rest.starts_with("}}") {
        ""
    } else if rest.starts_with('}') {
        "}"
    } else {
        "}}"
    };
    // Unquoted braces at the start of a value would be a mapping, so the whole value is put in quotes.
    let bare = !value.quoted && open == 0 && !value.item;
    let start = offer.offset - inner.len() + (inner.len() - inner.trim_start().len());
    let (start, opening) =
        if bare { (start - 2 - (start - (offer.offset - inner.len())), "\"{{") } else { (start, "") };
    let closing = if bare { format!("{close}\"") } else { close.to_owned() };
    for (name, input) in named(&offer.checked.draft.inputs) {
        let insert = format!("{opening}{name}{closing}");
        let detail = input.kind.as_ref().map_or("string", |kind| &kind.value).to_owned();
        offer.from(start, name, Kind::Input, detail, input_text(input), insert);
    }
    if in_condition {
        return true;
    }
    let own = offer.own_stage().unwrap_or(offer.checked.draft.stages.len());
    for (at, stage) in offer.checked.draft.stages.iter().enumerate().take(own) {
        let name = stage.name.as_ref().map_or_else(|| (at + 1).to_string(), |name| name.value.clone());
        let label = format!("stages.{name}.result");
        let detail = stage.description.as_ref().map_or(String::new(), |text| first_line(&text.value));
        let insert = format!("{opening}{label}{closing}");
        offer.from(start, &label, Kind::Stage, detail, stage_text(at, stage), insert);
    }
    true
}

/// Completes a condition.
pub fn condition(offer: &mut Offer<'_>, value: &Value) {
    let word = |c: char| c.is_alphanumeric() || "_-./:".contains(c);
    let before = value.before.trim_end_matches(word);
    match condition::next(before) {
        Next::ValueOf(name) => {
            let inputs = &offer.checked.draft.inputs;
            let values: Vec<String> = named(inputs)
                .filter(|(known, _)| *known == name)
                .flat_map(|(_, input)| values_of(input))
                .collect();
            for named_value in values {
                let insert = if named_value.chars().all(word) {
                    named_value.clone()
                } else {
                    inner_quotes(&named_value, value.sign)
                };
                offer.word(&named_value, Kind::Value, String::new(), String::new(), insert);
            }
        }
        Next::Comparison => words(offer, &["==", "!=", "&&", "||"]),
        Next::Join => words(offer, &["&&", "||"]),
        Next::Operand => {
            facts(offer);
            variables(offer, before.is_empty() && !value.quoted, value.sign);
        }
    }
}

fn words(offer: &mut Offer<'_>, all: &[&str]) {
    for word in all {
        offer.word(word, Kind::Word, String::new(), String::new(), (*word).to_owned());
    }
}

fn facts(offer: &mut Offer<'_>) {
    let project = offer.project;
    let words = WORDS.iter().map(|(word, _)| *word);
    let mut names: Vec<&str> = project.facts.iter().map(|fact| fact.name.as_str()).collect();
    names.extend(
        condition::FACTS
            .iter()
            .map(|(name, _)| *name)
            .filter(|name| !project.facts.iter().any(|fact| fact.name == *name)),
    );
    for name in names.into_iter().chain(words) {
        let now = project.facts.iter().find(|fact| fact.name == name).and_then(|fact| fact.now.as_ref());
        let detail = now.map_or(String::new(), |(value, _)| format!("now {value}"));
        offer.word(name, Kind::Fact, detail, fact_text(name, name, project), name.to_owned());
    }
}

/// Variables, and comparisons with their values if these are few. `whole` is set at the start of an unquoted value.
fn variables(offer: &mut Offer<'_>, whole: bool, sign: Option<char>) {
    for (name, input) in named(&offer.checked.draft.inputs) {
        let variable = format!("{{{{{name}}}}}");
        let kind = input.kind.as_ref().map(|kind| kind.value.as_str());
        let mut all = vec![variable.clone()];
        if kind == Some("enum") {
            all.extend(values_of(input).iter().map(|value| {
                let simple = value.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
                let value = if simple { value.clone() } else { inner_quotes(value, sign) };
                format!("{variable} == {value}")
            }));
        }
        for label in all {
            let insert = if whole { quoted(&label) } else { label.clone() };
            offer.word(&label, Kind::Input, String::new(), input_text(input), insert);
        }
    }
}

/// Quotes a text in a condition, with other quotes than those around the condition.
fn inner_quotes(text: &str, outer: Option<char>) -> String {
    if outer == Some('\'') && !text.contains('"') { format!("\"{text}\"") } else { format!("'{text}'") }
}

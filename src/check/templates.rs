//! Checks variables (`{{…}}`): each must name an input or an earlier stage's result.

use super::graph::Order;
use crate::declaration::Sink;
use crate::declaration::draft::{Draft, DraftInput, Text};
use crate::diagnostic::Code;
use crate::lookalike;
use crate::source::Span;
use crate::template::{self, Variable};
use std::collections::HashMap;

/// The inputs by name.
pub struct Inputs<'a> {
    by_name: HashMap<&'a str, &'a DraftInput>,
    names: Vec<&'a str>,
    /// Whether an input could not be read, so that an unknown name may be the name of that input.
    unsure: bool,
}

impl<'a> Inputs<'a> {
    /// Collects the inputs of a draft.
    pub fn new(draft: &'a Draft) -> Self {
        let named =
            || draft.inputs.iter().filter_map(|input| Some((input.name.as_ref()?.value.as_str(), input)));
        Self {
            by_name: named().collect(),
            names: named().map(|(name, _)| name).collect(),
            unsure: draft.inputs_unsure,
        }
    }

    /// The input of this name.
    pub fn get(&self, name: &str) -> Option<&'a DraftInput> {
        self.by_name.get(name).copied()
    }
}

/// Checks every text that may contain variables.
pub fn check(sink: &mut Sink<'_>, draft: &Draft, inputs: &Inputs<'_>, order: &Order<'_>) {
    for (at, stage) in draft.stages.iter().enumerate() {
        let values = stage.inputs.iter().map(|(_, value)| value);
        let expects = stage.expects.iter().flat_map(|expects| expects.files.iter().chain(&expects.verdict));
        for text in stage.description.iter().chain(values).chain(expects) {
            check_text(sink, inputs, order, text, at);
        }
    }
}

fn check_text(sink: &mut Sink<'_>, inputs: &Inputs<'_>, order: &Order<'_>, text: &Text, stage: usize) {
    full_width(sink, text);
    if !text.value.contains("{{") {
        return;
    }
    let (places, errors) = template::parse(&text.value);
    for place in places {
        match &place.variable {
            Variable::Input(name) => check_variable(sink, inputs, text, name, place.span),
            Variable::StageResult(name) => order.check(sink, text, Some(place.name), name, stage),
        }
    }
    for error in errors {
        let report = sink.inside(Code::InvalidTemplate, text, error.span, error.message);
        if let Some(instead) = error.instead {
            report.fix(format!("change to {instead}"), instead);
        }
    }
}

/// Reports `｛｛name｝｝`, which would reach the agent literally.
fn full_width(sink: &mut Sink<'_>, text: &Text) {
    let value = text.value.as_str();
    let is_open = |c: char| c == '{' || lookalike::is_like(c, "{");
    let is_close = |c: char| c == '}' || lookalike::is_like(c, "}");
    let mut at = 0;
    while let Some(open) = value[at..].find(|c| lookalike::is_like(c, "{") || lookalike::is_like(c, "}")) {
        // Include the braces around it, look-alikes or not.
        let open = at + open;
        let start = value[..open].trim_end_matches(is_open).len();
        let inner = value[start..].trim_start_matches(is_open);
        let name = inner[..inner.find(is_close).unwrap_or(inner.len())].trim();
        let from = value.len() - inner.len();
        let end = value.len()
            - value[from..].trim_start_matches(|c| !is_close(c)).trim_start_matches(is_close).len();
        at = end.max(open + value[open..].chars().next().map_or(1, char::len_utf8));
        let braces = value[start..from].chars().count();
        if braces == 2 && crate::condition::is_input_name(name) && end > from {
            let c = value[open..].chars().next().unwrap_or('{');
            let span = Span::new(start, end);
            let report = sink.inside(Code::InvalidTemplate, text, span, lookalike::explained(c));
            report.fix(format!("change to {{{{{name}}}}}"), format!("{{{{{name}}}}}"));
        }
    }
}

/// Checks one `{{name}}`; `span` is its position in `text`, with braces.
pub fn check_variable(sink: &mut Sink<'_>, inputs: &Inputs<'_>, text: &Text, name: &str, span: Span) {
    if inputs.unsure || inputs.get(name).is_some() {
        return;
    }
    let near = sink.nearest(name, inputs.names.iter().copied());
    let hint = near.map_or_else(String::new, |near| format!(" (did you mean \"{near}\"?)"));
    let report =
        sink.inside(Code::UndefinedVariable, text, span, format!("no input has the name \"{name}\"{hint}"));
    if let Some(near) = near {
        report.fix(format!("change to \"{near}\""), format!("{{{{{near}}}}}"));
    }
}

//! `{{…}}`: does it name an input, or an earlier stage's result.

use super::graph::Order;
use crate::declaration::Sink;
use crate::declaration::draft::{Draft, Text};
use crate::diagnostic::Code;
use crate::source::Span;
use crate::suggest;
use crate::template::{self, Variable};

/// Judges every text that is rendered.
pub fn judge(sink: &mut Sink<'_>, draft: &Draft, order: &Order<'_>) {
    for (at, stage) in draft.stages.iter().enumerate() {
        let inputs = stage.inputs.iter().map(|(_, value)| value);
        let expects = stage.expects.iter().flat_map(|expects| expects.files.iter().chain(&expects.verdict));
        for text in stage.description.iter().chain(inputs).chain(expects) {
            judge_text(sink, draft, order, text, at);
        }
    }
}

fn judge_text(sink: &mut Sink<'_>, draft: &Draft, order: &Order<'_>, text: &Text, stage: usize) {
    if !text.value.contains("{{") {
        return;
    }
    let (places, errors) = template::parse(&text.value);
    for place in places {
        match &place.variable {
            Variable::Input(name) => judge_variable(sink, draft, text, name, place.span),
            Variable::StageResult(name) => order.judge(sink, text, Some(place.name), name, stage),
        }
    }
    for error in errors {
        let report = sink.inside(Code::InvalidTemplate, text, error.span, error.message);
        if let Some(instead) = error.instead {
            report.fix(format!("change to {instead}"), instead);
        }
    }
}

/// Judges one `{{name}}`; `span` is where it stands in `text`, braces included.
pub fn judge_variable(sink: &mut Sink<'_>, draft: &Draft, text: &Text, name: &str, span: Span) {
    let known =
        || draft.inputs.iter().filter_map(|input| input.name.as_ref()).map(|text| text.value.as_str());
    if draft.inputs_unsure || known().any(|known| known == name) {
        return;
    }
    let near = suggest::nearest(name, known());
    let hint = near.map_or_else(String::new, |near| format!(" (did you mean \"{near}\"?)"));
    let report =
        sink.inside(Code::UndefinedVariable, text, span, format!("no input has the name \"{name}\"{hint}"));
    if let Some(near) = near {
        report.fix(format!("change to \"{near}\""), format!("{{{{{near}}}}}"));
    }
}

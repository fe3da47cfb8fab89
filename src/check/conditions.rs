//! Checks `when`: its syntax, its facts, and whether its comparisons can vary.

use super::context::Context;
use super::templates::{Inputs, check_variable};
use crate::condition::{Expr, FACTS, Operand, WORDS};
use crate::declaration::Sink;
use crate::declaration::draft::{Draft, DraftInput, Text};
use crate::diagnostic::Code;
use crate::source::Span;

/// Judges every condition.
pub fn check(sink: &mut Sink<'_>, draft: &Draft, inputs: &Inputs<'_>, context: &Context) {
    let conditions =
        draft.stages.iter().filter_map(|stage| stage.when.as_ref().zip(stage.condition.as_ref()));
    for (text, condition) in conditions {
        match condition {
            Ok(expr) => check_one(sink, inputs, context, text, expr),
            Err(error) if text.value.trim().is_empty() => {
                sink.at(Code::InvalidCondition, &text.slot, &error.message).fix("change to always", "always");
            }
            Err(error) => {
                let report = sink.inside(Code::InvalidCondition, text, error.span, &error.message);
                if let Some(instead) = &error.instead {
                    report.fix(format!("change to {instead}"), instead);
                }
            }
        }
    }
}

fn check_one(sink: &mut Sink<'_>, inputs: &Inputs<'_>, context: &Context, text: &Text, expr: &Expr) {
    let mut facts: Vec<(&str, Span)> = Vec::new();
    let mut compared: Vec<(&str, &str, Span)> = Vec::new();
    expr.walk(&mut |expr| match expr {
        Expr::Fact(name, span) => facts.push((name, *span)),
        Expr::Equal(left, right) | Expr::NotEqual(left, right) => match (left, right) {
            (Operand::Variable(name, _), Operand::Text(value, span))
            | (Operand::Text(value, span), Operand::Variable(name, _)) => compared.push((name, value, *span)),
            _ => {}
        },
        _ => {}
    });
    for (name, span) in facts {
        check_fact(sink, inputs, context, text, name, span);
    }
    for (name, span) in expr.variables() {
        check_variable(sink, inputs, text, name, span);
    }
    for (name, value, span) in compared {
        if let Some(input) = inputs.get(name) {
            check_comparison(sink, text, input, value, span);
        }
    }
}

fn check_fact(
    sink: &mut Sink<'_>,
    inputs: &Inputs<'_>,
    context: &Context,
    text: &Text,
    name: &str,
    span: Span,
) {
    let known =
        || FACTS.iter().chain(WORDS).map(|(name, _)| *name).chain(context.facts.iter().map(String::as_str));
    if known().any(|fact| fact == name) {
        return;
    }
    let near = match name {
        "true" | "True" | "TRUE" => Some("always".to_owned()),
        "false" | "False" | "FALSE" => Some("never".to_owned()),
        _ if inputs.get(name).is_some() => Some(format!("{{{{{name}}}}}")),
        _ if name.starts_with("ui:") => Some("ui:true".to_owned()),
        _ => sink.nearest(name, known()).map(str::to_owned),
    };
    let hint = near.as_ref().map(|near| format!(" (did you mean \"{near}\"?)")).unwrap_or_default();
    let (code, words) = match context.more_facts {
        false => (Code::UnknownCondition, "unknown condition"),
        true => (Code::UncheckedCondition, "not checked without an editor: condition"),
    };
    let report = sink.inside(code, text, span, format!("{words} \"{name}\"{hint}"));
    if let Some(near) = near {
        report.fix(format!("change to {near}"), near);
    }
}

/// Checks a comparison of an input that has few values with a fixed value.
fn check_comparison(sink: &mut Sink<'_>, text: &Text, input: &DraftInput, value: &str, span: Span) {
    let name = input.name.as_ref().map_or("", |text| text.value.as_str());
    let values: Vec<&str> = match input.kind.as_ref().map(|kind| kind.value.as_str()) {
        Some("enum") => match &input.values {
            Some((values, _)) if !values.is_empty() => {
                values.iter().map(|value| value.value.as_str()).collect()
            }
            _ => return,
        },
        Some("bool") => vec!["true", "false"],
        _ => return,
    };
    // An optional input without a default may be empty.
    let may_be_empty =
        input.default.is_none() && input.required.as_ref().is_none_or(|(required, _)| !required);
    if values.contains(&value) || (value.is_empty() && may_be_empty) {
        return;
    }
    let near = sink.nearest(value, values.iter().copied());
    let hint = near.map_or_else(
        || format!("; its values are {}", values.join(", ")),
        |near| format!(" (did you mean \"{near}\"?)"),
    );
    let report = sink.inside(
        Code::ConstantCondition,
        text,
        span,
        format!("\"{name}\" can never be \"{value}\"{hint}"),
    );
    if let Some(near) = near {
        let shown = Operand::Text(near.to_owned(), span).to_string();
        report.fix(format!("change to \"{near}\""), shown);
    }
}

//! Checks for inputs of different names that become the same parameter: a skill gets both `output_dir` and `output-dir`
//! as `--output-dir`, and only one of them can be passed.

use crate::declaration::Sink;
use crate::declaration::draft::{Draft, Text};
use crate::declaration::yaml_writer::plain_or_quoted;
use crate::diagnostic::Code;
use crate::source::Span;
use std::collections::HashMap;

/// Checks the inputs of the superpower, and the inputs of each stage together with them.
pub fn check(sink: &mut Sink<'_>, draft: &Draft) {
    let mut declared: HashMap<String, &Text> = HashMap::new();
    for name in draft.inputs.iter().filter_map(|input| input.name.as_ref()) {
        match declared.get(&parameter(&name.value)) {
            Some(first) if first.value != name.value => {
                let earlier = place(sink, first);
                report(sink, Code::DuplicateInput, name, &first.value).related(earlier, "first here");
            }
            Some(_) => {}
            None => {
                declared.insert(parameter(&name.value), name);
            }
        }
    }
    for stage in &draft.stages {
        let mut first: HashMap<String, &Text> = HashMap::new();
        for (key, value) in &stage.inputs {
            let parameter = parameter(&key.value);
            if let Some(earlier) = first.get(&parameter) {
                let place = place(sink, earlier);
                report(sink, Code::DuplicateKey, key, &earlier.value).related(place, "first here");
                continue;
            }
            first.insert(parameter.clone(), key);
            let Some(input) = declared.get(&parameter).filter(|input| input.value != key.value) else {
                continue;
            };
            // The same value under two names is not ambiguous.
            if value.value.trim() == format!("{{{{{}}}}}", input.value) {
                continue;
            }
            let (name, place) = (input.value.clone(), place(sink, input));
            let report =
                report(sink, Code::DuplicateKey, key, &name).related(place, "the input of the superpower");
            report.fix(format!("change to \"{name}\""), plain_or_quoted(&name));
        }
    }
}

/// The parameter name of an input.
fn parameter(name: &str) -> String {
    name.replace('_', "-")
}

fn place(sink: &Sink<'_>, text: &Text) -> Span {
    sink.tree.node(text.slot.node).span
}

fn report<'s>(
    sink: &'s mut Sink<'_>,
    code: Code,
    text: &Text,
    other: &str,
) -> crate::declaration::Report<'s> {
    let message = format!(
        "\"{}\" and \"{other}\" become the same parameter, --{}: remove or rename one",
        text.value,
        parameter(&text.value)
    );
    sink.at(code, &text.slot, message)
}

//! Checks for texts that YAML cuts short, because ` #` starts a comment.

use crate::declaration::Sink;
use crate::declaration::draft::{Draft, Text};
use crate::declaration::yaml_writer::quoted;
use crate::diagnostic::{Code, Edit, Severity};
use crate::source::Span;

/// Checks all free texts.
pub fn check(sink: &mut Sink<'_>, draft: &Draft) {
    let inputs = draft.inputs.iter().flat_map(|input| input.description.iter().chain(&input.default));
    let stages = draft
        .stages
        .iter()
        .flat_map(|stage| stage.description.iter().chain(stage.inputs.iter().map(|(_, value)| value)));
    for text in draft.description.iter().chain(inputs).chain(stages) {
        check_text(sink, text);
    }
}

/// A `#` with text directly after it is probably not meant as a comment: `issue #12`.
fn check_text(sink: &mut Sink<'_>, text: &Text) {
    let span = sink.tree.node(text.slot.node).span;
    let plain = !sink.source.slice(span).starts_with(['"', '\'']);
    if !plain {
        return;
    }
    let line_end = sink.source.offset(sink.source.position(span.end).line, usize::MAX);
    let after = sink.source.slice(Span::new(span.end, line_end)).trim_end();
    let Some(cut) = after.strip_prefix(" #").filter(|_| span.start < span.end) else { return };
    if cut.is_empty() || cut.starts_with([' ', '\t', '#', '-', '=', '!']) || text.slot.alias.is_some() {
        return;
    }
    let whole = Span::new(span.start, span.end + after.len());
    let written = sink.source.slice(whole);
    if written.contains('\n') {
        return;
    }
    let edit = Edit { span: whole, text: quoted(written) };
    let lost = Span::new(span.end + 1, whole.end);
    let message = format!("YAML reads \"#{cut}\" as a comment: put the whole text in quotes");
    sink.at(Code::YamlSyntax, &text.slot, message)
        .severity(Severity::Warning)
        .narrow(lost)
        .edits("put the whole in quotes", vec![edit]);
}

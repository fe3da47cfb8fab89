//! Variables (`{{…}}`) in a declaration's texts: finding them, and replacing them by their values.

use crate::source::Span;

/// What a variable refers to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Variable {
    /// `{{name}}`: an input.
    Input(String),
    /// `{{stages.NAME.result}}`, with a stage's name or number: the report of an earlier stage.
    StageResult(String),
}

/// A variable and its position, relative to the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub variable: Variable,
    /// The whole variable, with its braces.
    pub span: Span,
    /// The name of the input or stage.
    pub name: Span,
}

/// Braces without a valid variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    /// The braces and their content, relative to the text.
    pub span: Span,
    /// What is wrong and what to write instead.
    pub message: String,
    /// Replacement for the span, if it is certain.
    pub instead: Option<String>,
}

/// Every variable and every invalid pair of braces in `text`, in order.
pub fn parse(text: &str) -> (Vec<Place>, Vec<TemplateError>) {
    let (mut places, mut errors) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(open) = text[at..].find("{{").map(|found| at + found) {
        let inner = open + 2;
        let close = text[inner..].find("}}").map(|found| inner + found);
        let next = text[inner..].find("{{").map(|found| inner + found);
        let closed = close.filter(|&close| next.is_none_or(|next| close < next || next + 1 == close));
        let Some(close) = closed else {
            errors.push(unclosed(text, open));
            at = next.unwrap_or(text.len());
            continue;
        };
        let span = Span::new(open, close + 2);
        match variable(&text[inner..close]) {
            Ok((variable, name)) => {
                places.push(Place { variable, span, name: Span::new(inner + name.start, inner + name.end) });
            }
            Err((message, instead)) => errors.push(TemplateError { span, message, instead }),
        }
        at = close + 2;
    }
    (places, errors)
}

/// Replaces every variable in `text` once; variables inside a value are not replaced.
///
/// Variables that `lookup` does not know stay as written.
pub fn render(text: &str, lookup: &dyn Fn(&Variable) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for place in parse(text).0 {
        if let Some(value) = lookup(&place.variable) {
            out.push_str(&text[at..place.span.start]);
            out.push_str(&value);
            at = place.span.end;
        }
    }
    out.push_str(&text[at..]);
    out
}

/// The name may extend to the end of the word; the closing braces belong there.
fn unclosed(text: &str, open: usize) -> TemplateError {
    let rest = &text[open + 2..];
    let blank = rest.len() - rest.trim_start_matches(' ').len();
    let word = rest[blank..].find(|c: char| !(c.is_ascii_alphanumeric() || "_-.".contains(c)));
    let length = blank + word.unwrap_or(rest.len() - blank);
    let end = open + 2 + length;
    let name = rest[..length].trim();
    // One of the two closing braces may be present.
    let end = if text[end..].starts_with('}') { end + 1 } else { end };
    let instead = variable(name).is_ok().then(|| format!("{{{{{name}}}}}"));
    TemplateError {
        span: Span::new(open, end),
        message: "\"}}\" is missing after the name".to_owned(),
        instead,
    }
}

type Wrong = (String, Option<String>);

/// Parses the content of the braces into a variable and the position of its name.
fn variable(inner: &str) -> Result<(Variable, Span), Wrong> {
    let text = inner.trim();
    let start = inner.len() - inner.trim_start().len();
    if crate::condition::is_input_name(text) {
        return Ok((Variable::Input(text.to_owned()), Span::new(start, start + text.len())));
    }
    if text.is_empty() {
        return Err(("the name between \"{{\" and \"}}\" is missing".to_owned(), None));
    }
    if let Some(rest) = text.strip_prefix("stages.") {
        if let Some(name) = rest.strip_suffix(".result").filter(|name| is_stage(name)) {
            let start = start + "stages.".len();
            return Ok((Variable::StageResult(name.to_owned()), Span::new(start, start + name.len())));
        }
        let stage = rest.split('.').next().unwrap_or(rest);
        let instead = is_stage(stage).then(|| format!("{{{{stages.{stage}.result}}}}"));
        return Err(("a stage has only a result: write {{stages.NAME.result}}".to_owned(), instead));
    }
    let stripped = text.strip_prefix("inputs.").or_else(|| text.strip_prefix('$'));
    if let Some(name) = stripped.filter(|name| crate::condition::is_input_name(name)) {
        return Err((
            format!("write {{{{{name}}}}}: an input needs no prefix"),
            Some(format!("{{{{{name}}}}}")),
        ));
    }
    Err((format!("invalid variable \"{text}\"; write {{{{input}}}} or {{{{stages.NAME.result}}}}"), None))
}

fn is_stage(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
}

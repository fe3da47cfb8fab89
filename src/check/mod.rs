//! The rules for declarations, one file for each family. The editor and the run use the same check.
//!
//! No rule stops at the first problem or depends on another rule: each checks whatever could be read.

mod conditions;
mod context;
mod graph;
mod inputs;
mod json_schema;
mod names;
mod parameters;
mod prose;
mod stages;
mod syntax;
mod templates;
mod text;

use crate::declaration::chunks::Chunks;
use crate::declaration::draft::Draft;
use crate::declaration::model::Declaration;
use crate::declaration::scalar::Core;
use crate::declaration::yaml::Tree;
use crate::declaration::{Sink, decode};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::source::{Source, Span};

pub use context::{Context, Left};
use inputs::RESERVED;
pub use json_schema::json_schema;
pub(crate) use names::{ORCHESTRATOR, is_argument, is_kebab};
pub use text::{MAX_BYTES, too_large};

use syntax::Read;

/// A checked declaration.
#[derive(Clone, Debug)]
pub struct Checked {
    pub source: Source,
    /// The syntax tree; after syntax errors, what could be read.
    pub tree: Tree,
    /// The declaration as far as it could be understood.
    pub draft: Draft,
    /// The typed model; present if and only if no diagnostic is an error.
    pub declaration: Option<Declaration>,
    /// All problems, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

impl Checked {
    /// The result for a file that was not read, with a single diagnostic.
    pub fn refused(code: Code, message: impl Into<String>) -> Self {
        let diagnostics = vec![Diagnostic::new(code, Span::default(), "", message)];
        Self { diagnostics, declaration: None, ..check("", &Context::default()) }
    }

    pub fn has_errors(&self) -> bool {
        self.declaration.is_none()
    }

    /// The problems as lines for people, with lines and columns from 1: `new-ui-feature.yaml:14:11: stages[2].gate:
    /// unknown gate "human_approval" (did you mean "human-approval"?)`.
    pub fn lines(&self, file: &str) -> Vec<String> {
        let line = |diagnostic: &Diagnostic| {
            let at = self.source.position(diagnostic.span.start);
            let path =
                if diagnostic.path.is_empty() { String::new() } else { format!("{}: ", diagnostic.path) };
            // Text that is quoted from the file must not start a new line or control the terminal.
            let message = crate::terminal::visible(&diagnostic.message);
            format!("{file}:{}:{}: {path}{message}", at.line + 1, at.col + 1)
        };
        self.diagnostics.iter().map(line).collect()
    }
}

/// Checks a declaration.
pub fn check(text: &str, context: &Context) -> Checked {
    let source = Source::new(text);
    let read = text::read(&source, usize::MAX, &mut Chunks::default());
    finish(source, read, context)
}

/// Checks a declaration that is being edited, if that is fast: returns none if repairing its syntax would read more
/// than about `allowance` bytes. `chunks` caches the parts of the text from before the last edit and is updated.
pub fn check_edited(text: &str, context: &Context, allowance: usize, chunks: &mut Chunks) -> Option<Checked> {
    let source = Source::new(text);
    let read = text::read(&source, allowance, chunks);
    (!read.hurried).then(|| finish(source, read, context))
}

/// Checks the bytes of a file, which may not be text. Each byte that is not UTF-8 is replaced by `?`.
pub fn check_bytes(bytes: &[u8], context: &Context) -> Checked {
    let (text, problems) = text::decode(bytes);
    let source = Source::new(text);
    let mut read = text::read(&source, usize::MAX, &mut Chunks::default());
    if source.text().is_empty() && !problems.is_empty() {
        // Nothing can be missing in a file that is not text.
        read.found = problems.clone();
    } else {
        read.found.extend(problems.iter().cloned());
    }
    let mut checked = finish(source, read, context);
    // Drop other problems at such a place: they are about our "?", not about what the author wrote.
    let unreadable = |at: &Diagnostic| {
        problems.iter().any(|problem| at.span.start < problem.span.end && at.span.end > problem.span.start)
    };
    checked.diagnostics.retain(|diagnostic| diagnostic.code == Code::YamlSyntax || !unreadable(diagnostic));
    checked
}

fn finish(source: Source, read: Read, context: &Context) -> Checked {
    let Read { tree, found, blanks, .. } = read;
    let mut sink = Sink::new(&source, &tree, &blanks, found);
    // Text after the limit was not read, so nothing can be said of the whole.
    let nothing = tree.cut || tree.root().is_none_or(|root| tree.core(root) == Some(Core::Null));
    let decoded = if nothing { None } else { decode::decode(&mut sink) };
    if let Some(draft) = &decoded {
        apply_rules(&mut sink, draft, context);
    }
    let draft = decoded.unwrap_or_default();
    let mut diagnostics = sink.finish();
    let errors = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    let mut declaration = if errors { None } else { draft.finish(&tree) };
    if declaration.is_none() && !errors {
        // The rules should never let this happen; if they do, the run must be refused and say why.
        let message = "internal error: this file cannot be run, but no rule says why; please report it";
        diagnostics.push(Diagnostic::new(Code::WrongType, Span::new(0, 0), "", message));
        declaration = None;
    }
    Checked { source, tree, draft, declaration, diagnostics }
}

fn apply_rules(sink: &mut Sink<'_>, draft: &Draft, context: &Context) {
    names::check(sink, draft, context);
    inputs::check(sink, draft);
    parameters::check(sink, draft);
    stages::check(sink, draft, context);
    let order = graph::check(sink, draft);
    prose::check(sink, draft);
    let inputs = templates::Inputs::new(draft);
    conditions::check(sink, draft, &inputs, context);
    templates::check(sink, draft, &inputs, &order);
}

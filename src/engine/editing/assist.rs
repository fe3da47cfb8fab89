//! Editor features in an open declaration (completion, hover, rename and so on): [`crate::assist`] over the newest text
//! and the cached project, in the types of the Language Server Protocol.

use super::open_documents::Reading;
use super::project_cache::Known;
use super::{inlay_hints, lsp_types};
use crate::assist::{self, Action, FactNow, Kind, Location, Project, Worker};
use crate::check::Checked;
use crate::condition::FACTS;
use crate::diagnostic::Edit;
use crate::engine::core::Engine;
use crate::engine::op::Reply;
use crate::engine::refusal::Refusal;
use crate::plan::Inputs;
use crate::project::{Named, Places};
use crate::source::Span;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A request about a document.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assist {
    path: PathBuf,
    tick: i64,
    method: Method,
    /// Line and UTF-16 column, counted from 0.
    #[serde(default)]
    position: (usize, usize),
    /// The end of the range, for code actions.
    end: Option<(usize, usize)>,
    new_name: Option<String>,
    /// For references: whether to include the declaration.
    #[serde(default)]
    declaration: bool,
    /// For completion and hover: leave out keys and words, because another server (yamlls) offers them.
    #[serde(default)]
    without_keys: bool,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Method {
    Complete,
    Hover,
    Definition,
    References,
    PrepareRename,
    Rename,
    Symbols,
    Actions,
    Hints,
}

/// A request to read a project again, after the editor has seen a change in it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Renew {
    root: PathBuf,
}

/// Reads a project again, on a thread.
pub fn renew(engine: &Engine, request: &Renew) -> Result<Value, Refusal> {
    known(engine, &request.root).renew(&engine.queue);
    Ok(json!({}))
}

/// Performs an LSP request; null when there is nothing to show.
pub fn assist(engine: &Engine, request: &Assist) -> Result<Reply, Refusal> {
    let Some(reading) = engine.documents.reading(&request.path, request.tick) else {
        return Err(Refusal::Outdated);
    };
    let known = reading.root.as_deref().map(|root| known(engine, root));
    let context = AssistContext { engine, known, reading: &reading, uri: lsp_types::uri(&reading.path) };
    let (line, column) = request.position;
    let offset = reading.checked.source.offset_utf16(line, column);
    let end = request.end.map(|(line, column)| reading.checked.source.offset_utf16(line, column));
    Ok(Reply::Value(match request.method {
        Method::Complete => return Ok(Reply::Text(context.complete(offset, request.without_keys))),
        Method::Hover => context.hover(offset, request.without_keys),
        Method::Definition => context.definition(offset),
        Method::References => context.references(offset, request.declaration),
        Method::PrepareRename => context.prepare_rename(offset),
        Method::Rename => context.rename(offset, request.new_name.as_deref().unwrap_or_default())?,
        Method::Symbols => context.symbols(),
        Method::Actions => context.actions(Span::new(offset, end.unwrap_or(offset).max(offset))),
        Method::Hints => context.hints(),
    }))
}

/// An open document with everything that a request needs.
struct AssistContext<'a> {
    engine: &'a Engine,
    known: Option<Arc<Known>>,
    reading: &'a Reading,
    uri: String,
}

impl AssistContext<'_> {
    fn checked(&self) -> &Checked {
        &self.reading.checked
    }

    fn range(&self, span: Span) -> Value {
        lsp_types::range(&self.checked().source, span)
    }

    fn here(&self, span: Span) -> Value {
        json!({ "uri": self.uri, "range": self.range(span) })
    }

    fn workspace_edit(&self, edits: &[Edit]) -> Value {
        lsp_types::workspace_edit(&self.checked().source, &self.uri, self.reading.tick, edits)
    }

    /// The inputs of a run as far as the declaration's defaults give them.
    fn defaults(&self) -> Inputs {
        let inputs = self.checked().draft.inputs.iter();
        let default =
            |text: &Option<crate::declaration::draft::Text>| text.as_ref().map(|it| it.value.clone());
        inputs.filter_map(|input| Some((default(&input.name)?, default(&input.default)?))).collect()
    }

    fn project(&self) -> Project {
        let path = &self.reading.path;
        let conditions = self.engine.config().conditions;
        let mut project = Project {
            stem: path.file_stem().map(|stem| stem.to_string_lossy().into_owned()),
            harnesses: self.engine.harness_names(),
            ..Project::default()
        };
        if let Some(known) = &self.known {
            if let Some(index) = known.index(&self.engine.queue) {
                project.agents = workers(&index.agents);
                project.skills = workers(&index.skills);
            }
            let inputs = self.defaults();
            project.facts.extend(FACTS.iter().map(|(name, _)| FactNow {
                name: (*name).to_owned(),
                now: known.fact(name, &inputs).map(|fact| (fact.value, fact.reason)),
            }));
        }
        project.facts.extend(conditions.into_iter().map(|name| FactNow { name, now: None }));
        project
    }

    /// Serialized directly: building a tree of values for many agents would block the editor.
    fn complete(&self, offset: usize, without_keys: bool) -> String {
        let offers = assist::complete(self.checked(), offset, &self.project());
        let offers = offers.iter().filter(|it| !(without_keys && matches!(it.kind, Kind::Key | Kind::Word)));
        let source = &self.checked().source;
        let items = offers.enumerate().map(|(rank, offer)| lsp_types::completion(source, rank, offer));
        lsp_types::CompletionList::of(items.collect()).written()
    }

    fn hover(&self, offset: usize, without_keys: bool) -> Value {
        let hover = if without_keys { assist::hover_of_names } else { assist::hover };
        let found = hover(self.checked(), offset, &self.project());
        found.map_or(Value::Null, |hover| {
            let contents = json!({ "kind": "markdown", "value": hover.text });
            json!({ "contents": contents, "range": self.range(hover.span) })
        })
    }

    fn definition(&self, offset: usize) -> Value {
        match assist::definition(self.checked(), offset, &self.project()) {
            Some(Location::Here(span)) => self.here(span),
            Some(Location::File(path)) => {
                let start = json!({ "line": 0, "character": 0 });
                json!({ "uri": lsp_types::uri(&path), "range": { "start": start, "end": start } })
            }
            None => Value::Null,
        }
    }

    fn references(&self, offset: usize, declaration: bool) -> Value {
        let found = assist::references(self.checked(), offset, declaration);
        found.into_iter().map(|span| self.here(span)).collect()
    }

    fn prepare_rename(&self, offset: usize) -> Value {
        assist::prepare_rename(self.checked(), offset)
            .map_or(Value::Null, |(span, name)| json!({ "range": self.range(span), "placeholder": name }))
    }

    fn rename(&self, offset: usize, new: &str) -> Result<Value, Refusal> {
        let edits = assist::rename(self.checked(), offset, new);
        Ok(self.workspace_edit(&edits.map_err(Refusal::NotRenamed)?))
    }

    fn symbols(&self) -> Value {
        let symbols = assist::symbols(self.checked());
        symbols.iter().map(|symbol| lsp_types::symbol(self.checked(), symbol)).collect()
    }

    /// The fixes at the range, then those on the rest of its lines.
    fn actions(&self, span: Span) -> Value {
        let source = &self.checked().source;
        let line = |offset| source.position(offset).line;
        let whole = Span::new(source.line_start(line(span.start)), source.offset(line(span.end), usize::MAX));
        let mut all = assist::actions(self.checked(), span);
        for other in assist::actions(self.checked(), whole) {
            if !all.contains(&other) {
                all.push(other);
            }
        }
        let view = |action: &Action| {
            let fault = &self.checked().diagnostics[action.diagnostic];
            json!({
                "title": action.title, "kind": "quickfix", "isPreferred": true,
                "diagnostics": [lsp_types::diagnostic(source, &self.uri, fault)],
                "edit": self.workspace_edit(&action.edits),
            })
        };
        all.iter().map(view).collect()
    }

    fn hints(&self) -> Value {
        let known = self.known.as_ref();
        known.map_or_else(
            || json!([]),
            |known| inlay_hints::hints(&self.engine.documents, self.reading, known),
        )
    }
}

/// The cached state of a project.
pub fn known(engine: &Engine, root: &Path) -> Arc<Known> {
    engine.projects.known(root, Places::from_env(engine.config().places))
}

/// Agents or skills by name, the first of each name. A skill has two: its directory's and its own.
fn workers(all: &[Named]) -> Vec<Worker> {
    let mut workers: Vec<Worker> = Vec::with_capacity(all.len());
    for named in all {
        for name in std::iter::once(&named.name).chain(&named.alias) {
            if workers.iter().all(|known| known.name != *name) {
                let description = named.description.clone();
                let faults =
                    named.faults.iter().map(|it| format!("line {}: {}", it.line, it.message)).collect();
                workers.push(Worker { name: name.clone(), description, path: named.path.clone(), faults });
            }
        }
    }
    workers
}

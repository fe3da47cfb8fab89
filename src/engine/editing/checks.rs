//! Checks on request: one text or file, or a whole project.

use super::context::{context, index, real, stem};
use super::declaration_file;
use crate::check::{self, Checked};
use crate::diagnostic::Diagnostic;
use crate::engine::core::Engine;
use crate::engine::refusal::Refusal;
use crate::project::SuperpowerFile;
use crate::source::{Source, Span};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

type Answer = Result<Value, Refusal>;

/// A request to check one declaration, given as a text or a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    root: Option<PathBuf>,
    path: Option<PathBuf>,
    text: Option<String>,
}

/// A request to check every declaration of a project, or the one with this name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckAll {
    root: PathBuf,
    name: Option<String>,
    /// Unsaved buffers, which are checked instead of the files on disk.
    #[serde(default)]
    texts: BTreeMap<PathBuf, String>,
}

pub fn check(engine: &Engine, request: &Check) -> Answer {
    let index = request.root.as_deref().map(|root| index(engine, root));
    let context = context(engine, index.as_ref(), request.path.as_deref());
    let checked = match (&request.text, &request.path) {
        (Some(text), _) => check::check(text, &context),
        (None, Some(path)) => declaration_file::read(request.root.as_deref(), path)?.checked(&context),
        (None, None) => return Err(Refusal::BadRequest("check needs a path or a text".into())),
    };
    Ok(json!({ "diagnostics": views(&checked) }))
}

/// Checks all declarations, those in unsaved buffers without a file included, and reads the project only once.
pub fn check_all(engine: &Engine, request: &CheckAll) -> Answer {
    let index = index(engine, &request.root);
    let texts: BTreeMap<PathBuf, &String> =
        request.texts.iter().map(|(path, text)| (real(path), text)).collect();
    let saved: BTreeSet<PathBuf> = index.superpowers.iter().map(|file| real(&file.path)).collect();
    let of = |file: &SuperpowerFile| (file.name.clone(), file.path.clone());
    let new = texts.keys().filter(|path| !saved.contains(*path)).map(|path| (stem(path), path.clone()));
    let files: Vec<(String, PathBuf)> = match &request.name {
        None => index.superpowers.iter().map(of).chain(new).collect(),
        Some(name) => match (index.superpower(name), new.into_iter().find(|(stem, _)| stem == name)) {
            (Ok(file), _) => vec![of(file)],
            (Err(_), Some(new)) => vec![new],
            (Err(unknown), None) => return Err(unknown.into()),
        },
    };
    let all = files.into_iter().map(|(name, path)| {
        let context = context(engine, Some(&index), Some(&path));
        let checked = match texts.get(&real(&path)) {
            Some(text) => check::check(text, &context),
            None => declaration_file::checked(Some(&request.root), &path, &context),
        };
        json!({ "name": name, "path": path, "diagnostics": views(&checked) })
    });
    Ok(json!({ "files": all.collect::<Vec<Value>>() }))
}

fn views(checked: &Checked) -> Vec<Value> {
    checked.diagnostics.iter().map(|diagnostic| view(&checked.source, diagnostic)).collect()
}

/// A diagnostic with positions in the form that `vim.diagnostic` takes.
fn view(source: &Source, diagnostic: &Diagnostic) -> Value {
    let mut view = place(source, diagnostic.span);
    view["code"] = json!(diagnostic.code);
    view["severity"] = json!(diagnostic.severity.number());
    view["message"] = json!(diagnostic.message);
    view["path"] = json!(diagnostic.path);
    let related = diagnostic.related.iter().map(|related| {
        let mut view = place(source, related.span);
        view["message"] = json!(related.message);
        view
    });
    view["related"] = Value::Array(related.collect());
    if let Some(fix) = &diagnostic.fix {
        let edits = fix.edits.iter().map(|edit| {
            let mut view = place(source, edit.span);
            view["text"] = json!(edit.text);
            view
        });
        view["fix"] = json!({ "title": fix.title, "edits": edits.collect::<Vec<_>>() });
    }
    view
}

fn place(source: &Source, span: Span) -> Value {
    let (from, to) = (source.position(span.start), source.position(span.end));
    json!({
        "lnum": from.line, "col": from.col, "end_lnum": to.line, "end_col": to.col,
        "col_utf16": from.col_utf16, "end_col_utf16": to.col_utf16,
    })
}

//! Operations about declarations: finding, checking, planning, trusting. None of them starts anything.

use super::loaded::{Loaded, context_for, index, is_trusted};
use super::{Engine, Refusal};
use crate::check::{self, Context};
use crate::declaration::model::{Input, InputKind};
use crate::diagnostic::{Diagnostic, Severity};
use crate::project::root;
use crate::source::{Source, Span};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

type Answer = Result<Value, Refusal>;

/// A project.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Root {
    /// Its root.
    pub root: PathBuf,
}

/// A superpower of a project.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Named {
    root: PathBuf,
    name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Project {
    file: Option<PathBuf>,
    cwd: PathBuf,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    root: Option<PathBuf>,
    path: Option<PathBuf>,
    text: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    root: PathBuf,
    name: String,
    digest: String,
}

pub fn project(request: &Project) -> Answer {
    match root::find(request.file.as_deref(), &request.cwd) {
        Ok(root) => Ok(json!({ "root": root })),
        Err(none) => Err(Refusal::with("no-project", &none, json!({ "looked": none.looked }))),
    }
}

pub fn list(engine: &Engine, request: &Root) -> Answer {
    let index = index(engine, &request.root);
    let all = index.superpowers.iter().map(|file| {
        let bytes = fs::read(&file.path).unwrap_or_default();
        let context = context_for(engine, &index, &file.path, Some(file.stem().to_owned()));
        let checked = check::check_bytes(&bytes, &context);
        let count = |severity| checked.diagnostics.iter().filter(|it| it.severity == severity).count();
        let lines = checked.lines(&file.path.file_name().unwrap_or_default().to_string_lossy());
        let first =
            checked.diagnostics.iter().position(|it| it.severity == Severity::Error).map(|at| &lines[at]);
        let mut entry = json!({
            "name": file.name, "path": file.path, "source": file.source,
            "errors": count(Severity::Error), "warnings": count(Severity::Warning), "first_error": first,
        });
        if let Some(declaration) = &checked.declaration {
            entry["description"] = json!(declaration.description.value);
            entry["version"] = json!(declaration.version.value);
            entry["tags"] = json!(declaration.tags.iter().map(|tag| &tag.value).collect::<Vec<_>>());
            entry["stages"] = json!(declaration.stages.len());
            entry["inputs"] = json!(declaration.inputs.iter().map(input_view).collect::<Vec<_>>());
        }
        entry
    });
    Ok(Value::Array(all.collect()))
}

pub fn check(engine: &Engine, request: &Check) -> Answer {
    let index = request.root.as_deref().map(|root| index(engine, root));
    let stem =
        request.path.as_deref().and_then(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned());
    let context = match &index {
        Some(index) => context_for(engine, index, request.path.as_deref().unwrap_or(Path::new("")), stem),
        None => Context { stem, facts: engine.config().conditions, ..Context::default() },
    };
    let checked = match (&request.text, &request.path) {
        (Some(text), _) => check::check(text, &context),
        (None, Some(path)) => {
            let bytes = fs::read(path).map_err(|error| {
                Refusal::new("disk", format!("cannot read \"{}\": {error}", path.display()))
            })?;
            check::check_bytes(&bytes, &context)
        }
        (None, None) => return Err(Refusal::new("bad-request", "check takes a path or a text")),
    };
    let view = |diagnostic: &Diagnostic| diagnostic_view(&checked.source, diagnostic);
    Ok(json!({ "diagnostics": checked.diagnostics.iter().map(view).collect::<Vec<_>>() }))
}

/// A diagnostic with its places as `vim.diagnostic` takes them.
pub fn diagnostic_view(source: &Source, diagnostic: &Diagnostic) -> Value {
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

pub fn inputs(engine: &Engine, request: &Named) -> Answer {
    let loaded = Loaded::find(engine, &request.root, &request.name)?;
    let Some(declaration) = &loaded.checked.declaration else { return Err(loaded.invalid()) };
    Ok(Value::Array(declaration.inputs.iter().map(input_view).collect()))
}

/// An input as Lua sees it.
pub fn input_view(input: &Input) -> Value {
    let (kind, values) = match &input.kind {
        InputKind::String => ("string", None),
        InputKind::Bool => ("bool", None),
        InputKind::Enum(values) => {
            ("enum", Some(values.iter().map(|value| &value.value).collect::<Vec<_>>()))
        }
    };
    json!({
        "name": input.name.value, "type": kind, "required": input.required,
        "description": input.description.as_ref().map(|text| &text.value),
        "default": input.default.as_ref().map(|default| &default.value), "enum": values,
    })
}

pub fn trust(engine: &Engine, request: &Named) -> Answer {
    let loaded = Loaded::find(engine, &request.root, &request.name)?;
    let subject = loaded.subject(&request.root)?;
    let trusted = is_trusted(engine, &subject);
    Ok(json!({ "trusted": trusted, "digest": subject.digest, "sheet": subject.sheet }))
}

pub fn trust_grant(engine: &Engine, request: &Grant) -> Answer {
    let loaded = Loaded::find(engine, &request.root, &request.name)?;
    let Some(dir) = engine.config().state_dir else {
        return Err(Refusal::new(
            "no-state-dir",
            "the answer cannot be kept: no \"state_dir\" was configured",
        ));
    };
    let kept = loaded.subject(&request.root)?.grant(&dir, &request.digest);
    kept.map_err(|error| Refusal::new("not-kept", error))?;
    Ok(json!({}))
}

//! Operations about declarations: finding, checking, planning, trusting. None of them starts anything.

use super::loaded::{Loaded, context, index};
use super::questions::nested;
use super::trusted::Judged;
use super::{Engine, Refusal, file, trusted};
use crate::declaration::model::{Input, InputKind};
use crate::diagnostic::Severity;
use crate::project::root;
use crate::project::trust::Trust;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;

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
pub struct Grant {
    root: PathBuf,
    name: String,
    digest: String,
}

pub fn project(request: &Project) -> Answer {
    Ok(json!({ "root": root::find(request.file.as_deref(), &request.cwd)? }))
}

/// The links that were not followed, in a sentence each: why something may seem to be missing.
pub fn left(engine: &Engine, request: &Root) -> Answer {
    Ok(json!(index(engine, &request.root).left.lines()))
}

pub fn list(engine: &Engine, request: &Root) -> Answer {
    let index = index(engine, &request.root);
    let all = index.superpowers.iter().map(|file| {
        let context = context(engine, Some(&index), Some(&file.path));
        let checked = file::checked(Some(&request.root), &file.path, &context);
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
    let Judged { subject, trust, .. } = Judged::loaded(engine, &request.root, &loaded, None)?;
    Ok(json!({ "trusted": trust == Trust::Trusted, "digest": subject.digest, "sheet": subject.sheet }))
}

pub fn trust_grant(engine: &Engine, request: &Grant) -> Answer {
    nested("agree to what runs")?;
    trusted::grant(engine, &request.root, &request.name, &request.digest)?;
    Ok(json!({}))
}

//! Finds the project of a file, its superpowers and their inputs. Starts nothing.

use super::context::{context, index};
use super::declaration_file;
use super::input_view::input_view;
use super::loaded::Loaded;
use crate::diagnostic::Severity;
use crate::engine::core::Engine;
use crate::engine::refusal::Refusal;
use crate::project::root;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;

type Answer = Result<Value, Refusal>;

/// A request about a project.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Root {
    root: PathBuf,
}

/// A request about a superpower of a project.
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

pub fn project(request: &Project) -> Answer {
    Ok(json!({ "root": root::find(request.file.as_deref(), &request.cwd)? }))
}

/// The symbolic links that were not followed, one line each, to explain what seems to be missing.
pub fn left(engine: &Engine, request: &Root) -> Answer {
    Ok(json!(index(engine, &request.root).left.lines()))
}

pub fn list(engine: &Engine, request: &Root) -> Answer {
    let index = index(engine, &request.root);
    let all = index.superpowers.iter().map(|file| {
        let context = context(engine, Some(&index), Some(&file.path));
        let checked = declaration_file::checked(Some(&request.root), &file.path, &context);
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

/// A request for a new declaration from a template.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scaffold {
    template: String,
    name: String,
}

/// The template's text with this name, quoted as YAML needs it.
pub fn scaffold(request: &Scaffold) -> Result<Value, Refusal> {
    Ok(json!(crate::assist::scaffold(&request.template, &request.name)))
}

//! Receives the texts of open declarations, whole or in parts.

use super::assist::known;
use super::context::context;
use super::open_documents::{Against, Document, view};
use crate::engine::core::Engine;
use crate::engine::refusal::Refusal;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;

/// A part of a document's newest text. The `document` request brings the last part.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    path: PathBuf,
    tick: i64,
    text: String,
    first: bool,
}

/// A request to forget a document that the editor has closed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Closed {
    path: PathBuf,
}

/// Takes a text and returns its diagnostics, or `pending` when an event will bring them.
pub fn document(engine: &Engine, mut request: Document) -> Result<Value, Refusal> {
    if request.parts {
        let parts = engine.documents.take_parts(&request.path, request.tick);
        let mut text = parts.ok_or(Refusal::PartsOutOfOrder)?;
        text.push_str(&request.text);
        request.text = text;
    }
    let against = against(engine, &request);
    let tick = request.tick;
    if let Some(reading) = engine.documents.take_text(request, against, &engine.queue) {
        return Ok(view(&reading));
    }
    Ok(json!({ "tick": tick, "pending": true }))
}

/// The context for a text. A project that is not cached yet is read on the thread that checks.
fn against(engine: &Engine, request: &Document) -> Against {
    let Some(project) = request.root.as_deref().map(|root| known(engine, root)) else {
        return Against::Known(context(engine, None, Some(&request.path)));
    };
    if let Some(index) = project.index(&engine.queue) {
        return Against::Known(context(engine, Some(&index), Some(&request.path)));
    }
    let (engine, path) = (engine.me.clone(), request.path.clone());
    Against::Unread(Box::new(move || {
        let index = project.read();
        engine.upgrade().map(|engine| context(&engine, Some(&index), Some(&path))).unwrap_or_default()
    }))
}

pub fn part(engine: &Engine, request: Part) -> Result<Value, Refusal> {
    let Part { path, tick, text, first } = request;
    if engine.documents.add_part(path, tick, text, first) {
        Ok(json!({}))
    } else {
        Err(Refusal::PartsOutOfOrder)
    }
}

pub fn closed(engine: &Engine, request: &Closed) -> Result<Value, Refusal> {
    engine.documents.close(&request.path);
    Ok(json!({}))
}

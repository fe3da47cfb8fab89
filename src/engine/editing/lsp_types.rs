//! Types of the Language Server Protocol: UTF-16 columns, numbers for kinds.

use crate::assist::{Completion, Kind, Symbol};
use crate::check::Checked;
use crate::diagnostic::{Diagnostic, Edit};
use crate::source::{Source, Span};
use serde::Serialize;
use serde_json::{Value, json};
use std::path::Path;

pub fn uri(path: &Path) -> String {
    let mut uri = String::from("file://");
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
                uri.push(char::from(byte))
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

pub fn position(source: &Source, offset: usize) -> Value {
    let at = source.position(offset);
    json!({ "line": at.line, "character": at.col_utf16 })
}

pub fn range(source: &Source, span: Span) -> Value {
    json!({ "start": position(source, span.start), "end": position(source, span.end) })
}

pub fn diagnostic(source: &Source, uri: &str, fault: &Diagnostic) -> Value {
    let mut value = json!({
        "range": range(source, fault.span), "severity": fault.severity.number(), "code": fault.code,
        "source": "superpower", "message": fault.message,
    });
    if !fault.related.is_empty() {
        let related = fault.related.iter().map(|related| {
            json!({ "location": { "uri": uri, "range": range(source, related.span) }, "message": related.message })
        });
        value["relatedInformation"] = related.collect();
    }
    value
}

pub fn edit(source: &Source, edit: &Edit) -> Value {
    json!({ "range": range(source, edit.span), "newText": edit.text })
}

/// A versioned edit: the editor refuses it if the document has changed since.
pub fn workspace_edit(source: &Source, uri: &str, version: i64, edits: &[Edit]) -> Value {
    let edits: Vec<Value> = edits.iter().map(|it| edit(source, it)).collect();
    json!({ "documentChanges": [{ "textDocument": { "uri": uri, "version": version }, "edits": edits }] })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompletionList<'a> {
    is_incomplete: bool,
    items: Vec<CompletionItem<'a>>,
}

impl<'a> CompletionList<'a> {
    pub fn of(items: Vec<CompletionItem<'a>>) -> Self {
        Self { is_incomplete: false, items }
    }

    pub fn written(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| "null".to_owned())
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompletionItem<'a> {
    label: &'a str,
    kind: u8,
    sort_text: String,
    filter_text: &'a str,
    insert_text_format: u8,
    insert_text_mode: u8,
    text_edit: TextEdit<'a>,
    #[serde(skip_serializing_if = "str::is_empty")]
    detail: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    documentation: Option<Markdown<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TextEdit<'a> {
    range: Range,
    new_text: &'a str,
}

#[derive(Serialize)]
struct Range {
    start: Position,
    end: Position,
}

#[derive(Serialize)]
struct Position {
    line: usize,
    character: usize,
}

#[derive(Serialize)]
struct Markdown<'a> {
    kind: &'static str,
    value: &'a str,
}

/// A completion item; `rank` is its position in the list.
pub fn completion<'a>(source: &Source, rank: usize, offer: &'a Completion) -> CompletionItem<'a> {
    let at = |offset| {
        let at = source.position(offset);
        Position { line: at.line, character: at.col_utf16 }
    };
    let Edit { span, text } = &offer.edit;
    let documentation = Some(offer.documentation.as_str()).filter(|text| !text.is_empty());
    CompletionItem {
        label: &offer.label,
        kind: completion_kind(offer.kind),
        sort_text: format!("{rank:04}"),
        filter_text: &offer.filter,
        insert_text_format: 1,
        insert_text_mode: 1,
        text_edit: TextEdit { range: Range { start: at(span.start), end: at(span.end) }, new_text: text },
        detail: &offer.detail,
        documentation: documentation.map(|value| Markdown { kind: "markdown", value }),
    }
}

const fn completion_kind(kind: Kind) -> u8 {
    match kind {
        Kind::Key => 10,   // Property
        Kind::Word => 20,  // EnumMember
        Kind::Agent => 7,  // Class
        Kind::Skill => 3,  // Function
        Kind::Input => 6,  // Variable
        Kind::Stage => 18, // Reference
        Kind::Fact => 21,  // Constant
        Kind::Value => 12, // Value
    }
}

/// An entry of the outline.
pub fn symbol(checked: &Checked, symbol: &Symbol) -> Value {
    // Interface and Function: Trouble, Snacks and aerial filter the outline by kind, and keep these.
    let kind = if symbol.gate { 11 } else { 12 };
    json!({
        "name": symbol.name, "detail": symbol.detail, "kind": kind,
        "range": range(&checked.source, symbol.span),
        "selectionRange": range(&checked.source, symbol.selection),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_characters_of_a_path_are_escaped_in_its_uri() {
        assert_eq!(uri(Path::new("/a b/ä%.yaml")), "file:///a%20b/%C3%A4%25.yaml");
    }
}

//! Describes a tool call in one line, and finds the files that it writes.

use crate::store::beneath;
use serde_json::Value;
use std::path::Path;

/// Maximum length of a title, in characters.
const TITLE: usize = 120;
/// Input fields that describe a call, the most useful first.
const TITLE_FIELDS: [&str; 12] = [
    "file_path",
    "filePath",
    "notebook_path",
    "path",
    "command",
    "pattern",
    "query",
    "url",
    "skill",
    "description",
    "name",
    "subject",
];
/// Tools that write the file in their input.
const WRITERS: [&str; 6] =
    ["write", "edit", "multiedit", "notebookedit", "patch", "str_replace_based_edit_tool"];

/// A one-line title, such as `Edit docs/a.md`.
pub fn title(tool: &str, input: &Value, root: &Path) -> String {
    let told =
        TITLE_FIELDS.iter().find_map(|key| input.get(key).and_then(Value::as_str).map(|value| (*key, value)));
    let about = match told {
        Some(("file_path" | "filePath" | "notebook_path" | "path", path)) => relative(path, root),
        Some((_, text)) => {
            text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned()
        }
        None => String::new(),
    };
    let title = if about.is_empty() { tool.to_owned() } else { format!("{tool} {about}") };
    match title.char_indices().nth(TITLE) {
        Some((at, _)) => format!("{}…", &title[..at]),
        None => title,
    }
}

/// The files that the call writes if it succeeds.
pub fn files(tool: &str, input: &Value, root: &Path) -> Vec<String> {
    if !WRITERS.contains(&&*tool.to_ascii_lowercase()) {
        return Vec::new();
    }
    let path = TITLE_FIELDS[..4].iter().find_map(|key| input.get(key).and_then(Value::as_str));
    path.map(|path| relative(path, root)).into_iter().collect()
}

/// A path relative to the root, if it is inside.
pub fn relative(path: &str, root: &Path) -> String {
    let inside =
        |root: &Path| Path::new(path).strip_prefix(root).ok().map(|p| p.to_string_lossy().into_owned());
    let real = || beneath::real(root).ok().and_then(|root| inside(&root));
    inside(root).or_else(real).filter(|p| !p.is_empty()).unwrap_or_else(|| path.to_owned())
}

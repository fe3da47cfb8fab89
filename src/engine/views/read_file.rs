//! Reads parts of the plugin's own files for windows: a stage's output, its prompt, the log. Reading them here and not in
//! Lua means that a pipe or device in their place is refused instead of blocking the editor.

use crate::engine::refusal::Refusal;
use crate::store::beneath::Door;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io;
use std::path::PathBuf;

/// Maximum number of bytes in a reply.
const MAX_BYTES: u64 = 8 << 20;
/// The plugin's own directories, relative to the root.
const PLACES: [&str; 2] = [".claude/state", ".claude/logs"];

/// A request for a part of a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    root: PathBuf,
    path: PathBuf,
    /// The offset in bytes; a negative one counts from the end.
    #[serde(default)]
    from: i64,
    /// Maximum number of bytes.
    #[serde(default = "most")]
    most: u64,
}

fn most() -> u64 {
    MAX_BYTES
}

/// Reads a part: its `text`, its offset `from`, and the `size` of the whole file. Null if the file does not exist.
pub fn read_file(request: &Part) -> Result<Value, Refusal> {
    let path = request.root.join(&request.path);
    if !PLACES.iter().any(|place| path.starts_with(request.root.join(place))) {
        return Err(Refusal::NotOurs(path));
    }
    match Door::ours(&request.root).read_part(&path, request.from, request.most.min(MAX_BYTES)) {
        Ok((bytes, from, size)) => {
            Ok(json!({ "text": String::from_utf8_lossy(&bytes), "from": from, "size": size }))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Value::Null),
        Err(error) => Err(Refusal::UnreadableFile { path, error }),
    }
}

//! Parts of files of ours, for windows that show them: a stage's output, its prompt, the log. Read here, so that what a
//! repository has put in the place of one is refused instead of waited for.

use crate::engine::refusal::Refusal;
use crate::store::beneath::Door;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io;
use std::path::PathBuf;

/// Bytes that one answer holds at most.
const MOST: u64 = 8 << 20;
/// Where our own files are, below the root.
const PLACES: [&str; 2] = [".claude/state", ".claude/logs"];

/// A part of a file of ours.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    root: PathBuf,
    path: PathBuf,
    /// Where it begins, in bytes; from the end where negative.
    #[serde(default)]
    from: i64,
    /// Bytes at most.
    #[serde(default = "most")]
    most: u64,
}

fn most() -> u64 {
    MOST
}

/// Reads a part. `text` is what is there, `from` where that begins, and `size` that of the whole file; null where
/// there is no file.
pub fn read_file(request: &Part) -> Result<Value, Refusal> {
    let path = request.root.join(&request.path);
    if !PLACES.iter().any(|place| path.starts_with(request.root.join(place))) {
        return Err(Refusal::NotOurs(path));
    }
    match Door::ours(&request.root).read_part(&path, request.from, request.most.min(MOST)) {
        Ok((bytes, from, size)) => {
            Ok(json!({ "text": String::from_utf8_lossy(&bytes), "from": from, "size": size }))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Value::Null),
        Err(error) => Err(Refusal::UnreadableFile { path, error }),
    }
}

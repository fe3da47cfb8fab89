//! The user's own `config.json`: options for the command line, and where our state is.

use crate::environ;
use crate::store::beneath::Door;
use jsonc_parser::ParseOptions;
use serde_json::{Map, Value};
use std::io;
use std::path::PathBuf;

/// Size limit of the file, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// `$XDG_CONFIG_HOME/superpower/config.json`, or else below `~/.config`. A relative folder would be one of whatever
/// project the working directory is in.
pub fn path() -> Option<PathBuf> {
    let whole = |name: &str| environ::get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = whole("XDG_CONFIG_HOME").or_else(|| Some(whole("HOME")?.join(".config")))?;
    Some(config.join("superpower/config.json"))
}

/// What the file says; comments and trailing commas are allowed. Nothing if there is none.
pub fn read() -> Result<Map<String, Value>, String> {
    let Some(path) = path() else { return Ok(Map::new()) };
    let folder = path.parent().unwrap_or(&path);
    let text = match Door::home(folder).read_text(&path, MAX_BYTES) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Map::new());
        }
        Err(error) => return Err(format!("cannot read \"{}\": {error}", path.display())),
    };
    match jsonc_parser::parse_to_serde_value(&text, &ParseOptions::default()) {
        Ok(Value::Object(options)) => Ok(options),
        // Nothing but comments.
        Ok(Value::Null) => Ok(Map::new()),
        Ok(_) => Err(format!("{}: expected an object", path.display())),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

/// Where the file says that our state is.
pub fn state_dir() -> Result<Option<PathBuf>, String> {
    let dir = read()?.get("state_dir").and_then(Value::as_str).map(PathBuf::from);
    Ok(dir.filter(|dir| dir.is_absolute()))
}

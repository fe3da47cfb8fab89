//! `.claude/state/squad.json`: the run last driven, in the form that other tools of this family read.
//!
//! The first four fields are theirs, to the letter; the rest are ours; what somebody else added stays.

use super::atomic;
use super::beneath::{Door, Refused};
use super::names::{self, NotARunId};
use crate::plan::Inputs;
use crate::tolerant;
use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Where it is.
pub fn path(root: &Path) -> PathBuf {
    root.join(".claude/state/squad.json")
}

/// Bytes of the file.
const LARGEST: u64 = 1 << 20;

/// What `squad.json` says.
#[derive(Clone, Debug, PartialEq)]
pub struct Squad {
    /// The superpower's name.
    pub active_superpower: String,
    /// Position from 1.
    pub current_stage: usize,
    /// `running`, `paused` or how it ended, or another tool's word.
    pub status: String,
    /// The inputs.
    pub inputs: Inputs,
    /// Our run; none where another tool wrote the file.
    pub run_id: Option<String>,
}

/// Why it cannot be used.
#[derive(Debug, Error)]
pub enum SquadError {
    /// The disk.
    #[error("cannot read \"squad.json\": {0}")]
    Io(io::Error),
    /// It is not JSON, or not an object: to be set aside.
    #[error("\"squad.json\" cannot be read: {0}")]
    Unreadable(String),
    /// It is an object, but a field cannot be: refused, and left as it is.
    #[error("\"squad.json\" cannot be taken over: {0}")]
    Invalid(String),
}

/// Reads it; `None` where there is none.
pub fn read(root: &Path) -> Result<Option<Squad>, SquadError> {
    let path = path(root);
    let text = match Door::ours(root).read_text(&path, LARGEST) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unfit(&error, &path).map_or(SquadError::Io(error), SquadError::Unreadable)),
    };
    match tolerant::value(&text, tolerant::FILE) {
        Ok(Value::Object(map)) => parse(&map).map(Some).map_err(SquadError::Invalid),
        Ok(_) => Err(SquadError::Unreadable("it is not an object".into())),
        Err(damage) => Err(SquadError::Unreadable(format!("it is not JSON: {damage}"))),
    }
}

/// Why what stands there cannot be the file, where moving it aside helps.
fn unfit(error: &io::Error, path: &Path) -> Option<String> {
    if error.kind() == io::ErrorKind::InvalidData {
        return Some("it is not text".into());
    }
    match Refused::of(error)? {
        Refused::NotAFile(_, what) => Some(format!("it is a {what}, not a regular file")),
        Refused::TooLarge(..) => Some(format!("it is larger than {} MiB", LARGEST >> 20)),
        // A link on the way to it stays.
        Refused::Link(link) => (link == path).then(|| "it is a link, which is not followed".into()),
        _ => None,
    }
}

fn parse(map: &Map<String, Value>) -> Result<Squad, String> {
    let text = |key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
    let current_stage = match map.get("current_stage") {
        None | Some(Value::Null) => 1,
        Some(value) => match value.as_u64() {
            Some(0) => 1,
            Some(stage) => usize::try_from(stage).unwrap_or(usize::MAX),
            None => return Err(format!("\"current_stage\" is {value}, not the number of a stage")),
        },
    };
    let inputs = match map.get("inputs") {
        None | Some(Value::Null) => Inputs::new(),
        Some(Value::Object(inputs)) => inputs
            .iter()
            .map(|(key, value)| {
                (key.clone(), value.as_str().map_or_else(|| value.to_string(), str::to_owned))
            })
            .collect(),
        Some(_) => return Err("\"inputs\" is not an object".into()),
    };
    let active_superpower = text("active_superpower").ok_or("it names no \"active_superpower\"")?;
    if !names::is_superpower(&active_superpower) {
        let shown = names::line(&active_superpower, 80);
        return Err(format!("\"{shown}\" is not the name of a superpower"));
    }
    let run_id = text("run_id");
    if let Some(other) = run_id.as_ref().filter(|run_id| !names::is_run_id(run_id)) {
        return Err(NotARunId::new(other).to_string());
    }
    let status = names::line(&text("status").unwrap_or_default(), 80);
    Ok(Squad { active_superpower, current_stage, status, inputs, run_id })
}

/// Writes it whole, beside and renamed; foreign fields of what stood there stay, behind ours. What stood there and
/// cannot be read is moved aside first; gives where to.
pub fn write(
    root: &Path,
    squad: &Squad,
    reason: Option<&str>,
    updated_at: DateTime<Utc>,
) -> io::Result<Option<PathBuf>> {
    let mut map = Map::new();
    map.insert("active_superpower".into(), json!(squad.active_superpower));
    map.insert("current_stage".into(), json!(squad.current_stage));
    map.insert("status".into(), json!(squad.status));
    map.insert("inputs".into(), json!(squad.inputs));
    map.insert("run_id".into(), json!(squad.run_id));
    map.insert("reason".into(), json!(reason));
    map.insert("updated_at".into(), json!(updated_at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true)));
    let path = path(root);
    let mut aside = None;
    let door = Door::ours(root);
    let there = door.read_text(&path, LARGEST);
    match there.map(|text| tolerant::value(&text, tolerant::FILE)) {
        Ok(Ok(Value::Object(old))) => {
            for (key, value) in old {
                map.entry(key).or_insert(value);
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Ok(_) => aside = Some(atomic::set_aside(&path, Utc::now())?),
        Err(error) if unfit(&error, &path).is_some() => {
            aside = Some(atomic::set_aside(&path, Utc::now())?);
        }
        Err(error) => return Err(error),
    }
    let mut bytes = serde_json::to_vec_pretty(&map)?;
    bytes.push(b'\n');
    door.replace(&path, &bytes)?;
    Ok(aside)
}

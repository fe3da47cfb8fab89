//! `.claude/state/squad.json`: the run that was last driven, for the other tools of this family.
//!
//! Those tools define the first four fields. The others are ours, and fields that another tool added are preserved.

use super::atomic;
use super::beneath::{Door, Refused};
use super::names::{self, NotARunId};
use crate::plan::Inputs;
use crate::tolerant::kept::{self, for_people};
use crate::tolerant::{self, Damage};
use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

pub fn path(root: &Path) -> PathBuf {
    root.join(".claude/state/squad.json")
}

/// Size limit of the file, in bytes.
const MAX_BYTES: u64 = 1 << 20;

#[derive(Clone, Debug, PartialEq)]
pub struct Squad {
    pub active_superpower: String,
    /// Position from 1.
    pub current_stage: usize,
    /// `running`, `paused`, how the run ended, or another tool's word.
    pub status: String,
    pub inputs: Inputs,
    /// Inputs whose value cannot be an input, with the kind of the value.
    pub unfit_inputs: BTreeMap<String, &'static str>,
    /// `None` if another tool wrote the file.
    pub run_id: Option<String>,
}

/// Why `squad.json` cannot be used.
#[derive(Debug, Error)]
pub enum SquadError {
    #[error("cannot read \"squad.json\": {0}")]
    Io(io::Error),
    /// Not JSON, or not an object; it is moved aside.
    #[error("cannot use \"squad.json\": {0}")]
    Unreadable(String),
    /// An object with an invalid field; it is refused and left unchanged.
    #[error("cannot take over \"squad.json\": {0}")]
    Invalid(String),
    /// It names a run by what cannot be one, such as a path: no verb follows it, and none touches it.
    #[error("cannot take over \"squad.json\": {0}; remove the file to go on")]
    NotARun(NotARunId),
}

impl SquadError {
    /// Whether a verb may move the file aside.
    pub fn is_movable(&self) -> bool {
        matches!(self, Self::Unreadable(_) | Self::Invalid(_))
    }
}

/// Reads the file; `None` if it does not exist.
pub fn read(root: &Path) -> Result<Option<Squad>, SquadError> {
    let path = path(root);
    let text = match Door::ours(root).read_text(&path, MAX_BYTES) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unfit(&error, &path).map_or(SquadError::Io(error), SquadError::Unreadable)),
    };
    match document(&text) {
        Ok(Value::Object(map)) => parse(&map).map(Some),
        Ok(_) => Err(SquadError::Unreadable("it is not an object".into())),
        Err(damage) => Err(SquadError::Unreadable(format!("it is not JSON: {damage}"))),
    }
}

/// Parses the text into the form in which it is written back.
fn document(text: &str) -> Result<Value, Damage> {
    kept::read(text).map(|read| read.value).or_else(|_| tolerant::value(text, tolerant::FILE))
}

/// Why what is at the path cannot be `squad.json`, if moving it aside helps.
fn unfit(error: &io::Error, path: &Path) -> Option<String> {
    if error.kind() == io::ErrorKind::InvalidData {
        return Some("it is not text".into());
    }
    match Refused::of(error)? {
        Refused::NotAFile(_, what) => Some(format!("it is a {what}, not a regular file")),
        Refused::TooLarge(..) => Some(format!("it is larger than {} MiB", MAX_BYTES >> 20)),
        // A link in a parent directory is left alone.
        Refused::Link(link) => (link == path).then(|| "it is a link, which is not followed".into()),
        _ => None,
    }
}

fn parse(map: &Map<String, Value>) -> Result<Squad, SquadError> {
    let strange = |key: &str, wanted: &str| {
        let value = map.get(key).map(kept::line).unwrap_or_default();
        SquadError::Invalid(format!("\"{key}\" is {}, not {wanted}", names::line(&value, 80)))
    };
    let text = |key: &str, wanted: &str| match map.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(for_people(text))),
        Some(_) => Err(strange(key, wanted)),
    };
    // A name written as a number is still a name.
    let name = |key: &str, wanted: &str| -> Result<Option<String>, SquadError> {
        match map.get(key) {
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            _ => Ok(text(key, wanted)?.map(|text| text.trim().to_owned())),
        }
    };
    let run_id = name("run_id", "the id of a run")?;
    if let Some(other) = run_id.as_ref().filter(|run_id| !names::is_run_id(run_id)) {
        return Err(SquadError::NotARun(NotARunId::new(other)));
    }
    // The other fields of our own run are rebuilt from its journal.
    let or_rebuilt = |why: SquadError| if run_id.is_some() { Ok(()) } else { Err(why) };
    let mut current_stage = 1;
    if let Some(value) = map.get("current_stage").filter(|value| !value.is_null()) {
        match stage(value) {
            Some(stage) => current_stage = stage.max(1),
            None => or_rebuilt(strange("current_stage", "the number of a stage"))?,
        }
    }
    let values = match map.get("inputs") {
        None | Some(Value::Null) => None,
        Some(Value::Object(inputs)) => Some(inputs),
        Some(_) => or_rebuilt(SquadError::Invalid("\"inputs\" is not an object".into())).map(|()| None)?,
    };
    let mut inputs = Inputs::new();
    let mut unfit_inputs = BTreeMap::new();
    for (key, value) in values.into_iter().flatten() {
        inputs.extend(input(value).map(|text| (for_people(key), text)));
        unfit_inputs.extend(match value {
            Value::Array(_) => Some((for_people(key), "a list")),
            Value::Object(_) => Some((for_people(key), "an object")),
            _ => None,
        });
    }
    let active_superpower = name("active_superpower", "the name of a superpower")?
        .ok_or_else(|| SquadError::Invalid("\"active_superpower\" is missing".into()))?;
    if !names::is_superpower(&active_superpower) {
        let shown = names::line(&active_superpower, 80);
        return Err(SquadError::Invalid(format!("\"{shown}\" is not the name of a superpower")));
    }
    let status = text("status", "a word").or_else(|why| or_rebuilt(why).map(|()| None))?;
    let status = names::line(&status.unwrap_or_default(), 80);
    Ok(Squad { active_superpower, current_stage, status, inputs, unfit_inputs, run_id })
}

/// The position that a value means: a whole number, also written as `2.0` or as text.
fn stage(value: &Value) -> Option<usize> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => for_people(text).trim().to_owned(),
        _ => return None,
    };
    let whole = |number: f64| number.fract() == 0.0 && number >= 0.0;
    // A number that is too large is after every stage.
    text.parse()
        .ok()
        .or_else(|| text.parse().ok().filter(|number| whole(*number)).map(|number| number as usize))
}

/// The text of an input's value; `None` for null.
fn input(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(for_people(text)),
        other => Some(kept::line(other)),
    }
}

/// The inputs as they are written. If the file is about the same run, values that another tool wrote in another form
/// keep that form, and so do values that cannot be inputs.
fn written_inputs(squad: &Squad, old: &Map<String, Value>) -> Value {
    let mut inputs: Map<String, Value> =
        squad.inputs.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
    let is_same = match old.get("run_id") {
        None | Some(Value::Null) => old.get("active_superpower") == Some(&json!(squad.active_superpower)),
        run_id => run_id == Some(&json!(squad.run_id)),
    };
    let theirs = old.get("inputs").and_then(Value::as_object).filter(|_| is_same);
    for (key, value) in theirs.into_iter().flatten() {
        match squad.inputs.get(&for_people(key)) {
            Some(ours) if input(value).as_ref() == Some(ours) => {
                _ = inputs.insert(key.clone(), value.clone())
            }
            None if !matches!(value, Value::String(_)) => _ = inputs.insert(key.clone(), value.clone()),
            _ => {}
        }
    }
    Value::Object(inputs)
}

/// Replaces the file atomically and preserves foreign fields after ours. An unreadable file is first moved aside;
/// returns where to.
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
    let there = door.read_text(&path, MAX_BYTES);
    match there.map(|text| document(&text)) {
        Ok(Ok(Value::Object(old))) => {
            map.insert("inputs".into(), written_inputs(squad, &old));
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
    door.replace(&path, kept::text(&map).as_bytes())?;
    Ok(aside)
}

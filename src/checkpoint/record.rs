//! The protocol's document, `metadata.json`: read leniently, written strictly.
//!
//! It stays a JSON value throughout, in its own order and with its numbers as text, so that other tools' fields are
//! preserved exactly. This module reads the fields that we need, and changes only fields that the protocol defines.

use super::status::{Status, read_time, stamp};
use crate::tolerant::kept::{self, for_people};
use crate::tolerant::numbers::plain;
use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};
use thiserror::Error;

/// The limit of fix cycles if the document has none.
const MAX_FIX_CYCLES: u64 = 3;

/// The count at the start of the last visit of `FIX`. It is our own field, because an evaluator rewrites `FIX` and
/// its `cycle`.
const FIX_CYCLE_BEGUN: &str = "fix_cycle_begun";

/// Why a document cannot be used. It is then moved aside, never overwritten.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unreadable {
    /// Not JSON, or truncated.
    #[error("it is not valid JSON ({0})")]
    NotJson(String),
    /// JSON, but not the protocol's document.
    #[error("its \"{0}\" is not an object")]
    NotAnObject(&'static str),
    /// An object has the same key twice. The document can be used, but the first value is lost when it is written.
    #[error("\"{0}\" occurs twice, and only the last value counts")]
    Twice(String),
    /// A field of the protocol holds something else. The document can be used, but this is lost when it is written.
    #[error("\"{0}\" is {1}, which cannot be used")]
    Unfit(&'static str, String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Record(Map<String, Value>);

/// The number of fix cycles, and their limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixCycles {
    /// Started cycles, including the current one.
    pub count: u64,
    /// The limit.
    pub max: u64,
}

impl FixCycles {
    /// Whether the limit is exceeded.
    pub const fn past(self) -> bool {
        self.count > self.max
    }
}

impl Record {
    /// Parses a document of any version. An empty object is accepted: missing fields are added when needed.
    pub fn parse(text: &str) -> Result<Self, Unreadable> {
        Self::of(kept::value(text).map_err(|error| Unreadable::NotJson(error.to_string()))?)
    }

    /// Parses a document, and returns what of the text it cannot hold.
    pub fn read(text: &str) -> Result<(Self, Option<Unreadable>), Unreadable> {
        let read = kept::read(text).map_err(|error| Unreadable::NotJson(error.to_string()))?;
        Ok((Self::of(read.value)?, read.duplicate_key.map(Unreadable::Twice)))
    }

    fn of(value: Value) -> Result<Self, Unreadable> {
        let Value::Object(document) = value else { return Err(Unreadable::NotAnObject("document")) };
        let state = object_or_none(&document, "loop_state")?;
        if let Some(state) = state {
            object_or_none(state, "checkpoints")?;
        }
        Ok(Self(document))
    }

    /// The protocol's smallest document. A track's document has the track's id, and the version that keeps other
    /// tools from migrating it. It has no `status` of the whole track: that is up to the track's owner, and a run is
    /// only a part of it.
    pub fn minimal(track: Option<&str>, now: DateTime<Utc>) -> Self {
        let mut document = Map::new();
        if let Some(track) = track {
            document.insert("version".into(), json!(2));
            document.insert("track_id".into(), json!(track));
            document.insert("created_at".into(), json!(stamp(now)));
        }
        document.insert(
            "loop_state".into(),
            json!({
                "current_step": "NOT_STARTED", "step_status": Status::NotStarted.text(), "step_started_at": null,
                "fix_cycle_count": 0, "max_fix_cycles": MAX_FIX_CYCLES, "checkpoints": {}
            }),
        );
        Self(document)
    }

    /// The text to write: indented by two spaces, with a newline at the end.
    pub fn text(&self) -> String {
        kept::text(&self.0)
    }

    /// The document as JSON.
    pub const fn json(&self) -> &Map<String, Value> {
        &self.0
    }

    /// `loop_state`, where there is one.
    pub(super) fn state(&self) -> Option<&Map<String, Value>> {
        self.0.get("loop_state")?.as_object()
    }

    fn state_mut(&mut self) -> &mut Map<String, Value> {
        object_in(&mut self.0, "loop_state")
    }

    /// The track's current step, which another tool may have set.
    pub fn current_step(&self) -> Option<&str> {
        self.state()?.get("current_step")?.as_str()
    }

    /// All checkpoints, in their order.
    pub fn checkpoints(&self) -> impl Iterator<Item = (&str, View<'_>)> {
        let checkpoints = self.state().and_then(|state| state.get("checkpoints")).and_then(Value::as_object);
        checkpoints.into_iter().flatten().map(|(key, value)| (key.as_str(), View(value)))
    }

    pub fn checkpoint(&self, key: &str) -> Option<View<'_>> {
        self.checkpoints().find(|(name, _)| *name == key).map(|(_, view)| view)
    }

    /// A checkpoint to change, created if it is missing. A bare status (`"PLAN": "PASSED"`) becomes an object; any
    /// other value is kept as `previous`.
    pub fn checkpoint_mut(&mut self, key: &str) -> &mut Map<String, Value> {
        let checkpoints = object_in(self.state_mut(), "checkpoints");
        match checkpoints.get_mut(key) {
            None | Some(Value::Null | Value::Object(_)) => {}
            Some(status @ Value::String(_)) => *status = json!({ "status": status.clone() }),
            Some(foreign) => *foreign = json!({ "previous": foreign.clone() }),
        }
        object_in(checkpoints, key)
    }

    /// Sets `key` as the current step, and adds the fields of `loop_state` that the protocol requires.
    pub fn set_current_step(&mut self, key: &str, started_at: DateTime<Utc>) {
        let state = self.state_mut();
        state.insert("current_step".into(), json!(key));
        state.insert("step_status".into(), json!(Status::InProgress.text()));
        state.insert("step_started_at".into(), json!(stamp(started_at)));
        state.entry("fix_cycle_count").or_insert(json!(0));
        state.entry("max_fix_cycles").or_insert(json!(MAX_FIX_CYCLES));
    }

    /// Writes the status of `key` next to the checkpoints, if `key` is still the current step. Agents may have moved
    /// the track on.
    pub fn set_step_status(&mut self, key: &str, status: Status) {
        if self.current_step() == Some(key) {
            self.state_mut().insert("step_status".into(), json!(status.text()));
        }
    }

    /// The fix cycles if `FIX` started now: one more, unless an evaluator has already counted it.
    pub fn next_fix(&self) -> FixCycles {
        let state = self.state();
        let number = |name| state.and_then(|state| state.get(name)).and_then(count_of);
        let count = number("fix_cycle_count").unwrap_or(0);
        let begun = number(FIX_CYCLE_BEGUN).or_else(|| self.cycle_of_fix()).unwrap_or(0);
        let max = number("max_fix_cycles").unwrap_or(MAX_FIX_CYCLES);
        FixCycles { count: if count > begun { count } else { count.saturating_add(1) }, max }
    }

    /// The cycle of a `FIX` that has run. A cycle that an evaluator has only prepared does not count.
    fn cycle_of_fix(&self) -> Option<u64> {
        let fix = self.checkpoint("FIX")?;
        if fix.status() == Some(Status::NotStarted) {
            return None;
        }
        count_of(fix.0.get("cycle")?)
    }

    /// Counts the start of a visit of `FIX`.
    pub fn begin_fix(&mut self) {
        let FixCycles { count, max } = self.next_fix();
        let state = self.state_mut();
        state.insert("fix_cycle_count".into(), json!(count));
        if state.get("max_fix_cycles").is_none_or(Value::is_null) {
            state.insert("max_fix_cycles".into(), json!(max));
        }
        state.insert(FIX_CYCLE_BEGUN.into(), json!(count));
    }

    /// The last task of an interrupted `EXECUTE`, under either of the names in use.
    pub fn interrupted_at(&self) -> Option<&str> {
        ["EXECUTE", "PARALLEL_EXECUTE"].into_iter().find_map(|key| {
            let view = self.checkpoint(key)?;
            if view.status() == Some(Status::InProgress) { view.last_task() } else { None }
        })
    }

    /// Values that the protocol does not define, one line each.
    pub fn foreign(&self) -> Vec<String> {
        let mut found = Vec::new();
        if let Some(step @ ("PARALLEL_EXECUTE" | "COMPLETE" | "SKIPPED")) = self.current_step() {
            found.push(format!("current_step is \"{step}\""));
        }
        let step_status = self.state().and_then(|state| state.get("step_status")).and_then(Value::as_str);
        if let Some(status) = step_status.filter(|status| Status::read(status).is_none()) {
            found.push(format!("step_status is \"{}\"", for_people(status)));
        }
        for (key, view) in self.checkpoints() {
            if matches!(key, "PARALLEL_EXECUTE" | "COMPLETE" | "SKIPPED") {
                found.push(format!("there is a checkpoint \"{key}\""));
            }
            if let Some(text) = view.status_text().filter(|text| Status::read(text).is_none()) {
                found.push(format!("the status of \"{}\" is \"{}\"", for_people(key), for_people(text)));
            }
        }
        found
    }
}

/// A checkpoint, read-only.
#[derive(Clone, Copy, Debug)]
pub struct View<'a>(&'a Value);

impl<'a> View<'a> {
    /// Its fields, unless it is a bare status.
    pub(super) fn object(self) -> Option<&'a Map<String, Value>> {
        self.0.as_object()
    }

    /// Its status as written.
    pub fn status_text(self) -> Option<&'a str> {
        self.0.as_str().or_else(|| self.0.get("status")?.as_str())
    }

    /// Its status; `None` if it is missing or not one of the protocol.
    pub fn status(self) -> Option<Status> {
        Status::read(self.status_text()?)
    }

    pub fn agent(self) -> Option<&'a str> {
        self.0.get("agent")?.as_str()
    }

    /// The last finished task.
    pub fn last_task(self) -> Option<&'a str> {
        self.0.get("last_task")?.as_str().filter(|task| !task.is_empty())
    }

    /// A summary, or what went wrong.
    pub fn notes(self) -> Option<&'a str> {
        self.0.get("notes")?.as_str().filter(|notes| !notes.is_empty())
    }

    /// The task in progress.
    pub fn current_task(self) -> Option<&'a str> {
        self.0.get("progress")?.get("current_task")?.as_str()
    }

    /// Finished tasks and all tasks, from `progress` or from the fields beside it.
    pub fn tasks(self) -> Option<(u64, u64)> {
        let number = |name| {
            let inner = self.0.get("progress").and_then(|progress| progress.get(name));
            inner.or_else(|| self.0.get(name)).and_then(count_of)
        };
        Some((number("tasks_completed").unwrap_or(0), number("tasks_total")?))
    }

    /// When it was last written.
    pub fn last_updated(self) -> Option<DateTime<Utc>> {
        read_time(self.0.get("last_updated")?.as_str()?)
    }

    /// Its fields; empty for a bare status.
    pub fn fields(self) -> Map<String, Value> {
        match self.0 {
            Value::Object(fields) => fields.clone(),
            Value::String(status) => [("status".to_owned(), json!(status))].into_iter().collect(),
            _ => Map::new(),
        }
    }
}

/// A count, also if it is written as text or as `2.0`.
pub(super) fn count_of(value: &Value) -> Option<u64> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => plain(text).trim().to_owned(),
        _ => return None,
    };
    // A number that is too large for us is beyond every limit.
    let whole = |number: &f64| *number >= 0.0 && (number.is_infinite() || number.fract() == 0.0);
    text.parse().ok().or_else(|| text.parse().ok().filter(whole).map(|number| number as u64))
}

fn object_or_none<'a>(
    map: &'a Map<String, Value>,
    name: &'static str,
) -> Result<Option<&'a Map<String, Value>>, Unreadable> {
    match map.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(inner)) => Ok(Some(inner)),
        Some(_) => Err(Unreadable::NotAnObject(name)),
    }
}

/// The object under `name`, created if it is missing.
fn object_in<'a>(map: &'a mut Map<String, Value>, name: &str) -> &'a mut Map<String, Value> {
    let slot = map.entry(name).or_insert(Value::Null);
    if !slot.is_object() {
        *slot = Value::Object(Map::new());
    }
    match slot {
        Value::Object(inner) => inner,
        _ => unreachable!("made an object above"),
    }
}

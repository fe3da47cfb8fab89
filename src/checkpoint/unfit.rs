//! Finds values of the protocol's fields that a write would lose, because they are nothing that we can read.

use super::record::{Record, Unreadable, count_of};
use crate::store::names;
use crate::tolerant::kept;
use serde_json::{Map, Value};

/// A field, and whether a value of it can be read.
type Field = (&'static str, fn(&Value) -> bool);

const OF_STATE: [Field; 5] = [
    ("current_step", Value::is_string),
    ("step_status", Value::is_string),
    ("step_started_at", Value::is_string),
    ("fix_cycle_count", is_count),
    ("max_fix_cycles", is_count),
];

const OF_CHECKPOINT: [Field; 8] = [
    ("status", Value::is_string),
    ("started_at", Value::is_string),
    ("completed_at", Value::is_string),
    ("agent", Value::is_string),
    ("progress", Value::is_object),
    ("output_files", Value::is_array),
    ("notes", Value::is_string),
    ("last_updated", Value::is_string),
];

/// The first such value in `before` that `after` does not have any more.
pub(super) fn lost(before: &Record, after: &Record) -> Option<Unreadable> {
    let of_state = before.state().zip(after.state()).and_then(|(then, now)| first(then, now, &OF_STATE));
    of_state.or_else(|| {
        before
            .checkpoints()
            .find_map(|(key, then)| first(then.object()?, after.checkpoint(key)?.object()?, &OF_CHECKPOINT))
    })
}

fn first(before: &Map<String, Value>, after: &Map<String, Value>, fields: &[Field]) -> Option<Unreadable> {
    fields.iter().find_map(|(name, is_read)| {
        let then = before.get(*name).filter(|then| !then.is_null() && !is_read(then))?;
        let is_lost = after.get(*name) != Some(then);
        is_lost.then(|| Unreadable::Unfit(name, names::line(&kept::line(then), 80)))
    })
}

fn is_count(value: &Value) -> bool {
    count_of(value).is_some()
}

//! A number in a checkpoint that concurrent writers increment, so that a lost update shows.

use serde_json::{Value, json};
use superpower::checkpoint::record::Record;

/// Adds one to `counts.NAME`.
pub fn count(record: &mut Record, name: &str) {
    let mut document = record.json().clone();
    let counts = document.entry("counts").or_insert(json!({}));
    let before = counts.get(name).and_then(Value::as_u64).unwrap_or(0);
    counts[name] = json!(before + 1);
    *record = Record::parse(&Value::Object(document).to_string()).unwrap();
}

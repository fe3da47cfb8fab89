//! Merges two writers' changes to a checkpoint: our values go in, and what the agent or another tool wrote itself
//! stays.
//!
//! A field is ours while it holds a value that we wrote, or the value from before our stage. Any other value was
//! written by somebody else in the meantime, who knows better. Agents rewrite the whole file from a copy that is
//! seconds old, so *any* value that we wrote during the stage counts as ours, not only the last one.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Remembered values per field; an agent's copy is not older than that many writes.
const REMEMBERED: usize = 256;
/// Values per field that a later process gets. None of our agents is left by then to write an old copy.
const HANDED_ON: usize = 8;

/// Lists that both writers add to.
const UNITED: [&str; 1] = ["output_files"];

/// The values that each field got from us, by path (`progress.tasks_total`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Written(BTreeMap<String, Vec<Value>>);

impl Written {
    /// Treats every value in `seen` as ours, because it is from before our stage.
    pub fn starting_from(seen: &Map<String, Value>) -> Self {
        let mut written = Self::default();
        written.learn("", seen);
        written
    }

    fn learn(&mut self, prefix: &str, map: &Map<String, Value>) {
        for (name, value) in map {
            let path = format!("{prefix}{name}");
            if let Value::Object(inner) = value {
                self.learn(&format!("{path}."), inner);
            }
            self.note(path, value);
        }
    }

    /// Records that we wrote `value` to `path`.
    fn note(&mut self, path: String, value: &Value) {
        let values = self.0.entry(path).or_default();
        if values.last() != Some(value) {
            if values.len() == REMEMBERED {
                values.remove(0);
            }
            values.push(value.clone());
        }
    }

    /// The most recent values of each field, for a later process.
    pub fn newest(&self) -> Self {
        let newest = |values: &Vec<Value>| values[values.len().saturating_sub(HANDED_ON)..].to_vec();
        Self(self.0.iter().map(|(path, values)| (path.clone(), newest(values))).collect())
    }

    /// Whether we wrote `value` to `path`.
    pub fn holds(&self, path: &str, value: &Value) -> bool {
        self.0.get(path).is_some_and(|values| values.contains(value))
    }
}

/// Merges `ours` into `theirs`. A field that another tool wrote stays, unless `always` contains its path. Existing
/// fields keep their order; new ones are appended.
pub fn merge(
    theirs: &mut Map<String, Value>,
    ours: &Map<String, Value>,
    written: &mut Written,
    always: &[&str],
) {
    merge_at("", theirs, ours, written, always);
}

fn merge_at(
    prefix: &str,
    theirs: &mut Map<String, Value>,
    ours: &Map<String, Value>,
    written: &mut Written,
    always: &[&str],
) {
    for (name, value) in ours {
        let path = format!("{prefix}{name}");
        match (theirs.get_mut(name), value) {
            (Some(Value::Object(inner)), Value::Object(ours)) => {
                merge_at(&format!("{path}."), inner, ours, written, always);
            }
            (Some(Value::Array(list)), Value::Array(ours)) if UNITED.contains(&path.as_str()) => {
                for item in ours {
                    if !list.contains(item) {
                        list.push(item.clone());
                    }
                }
            }
            (Some(there), _) => {
                let may = there.is_null() || always.contains(&path.as_str()) || written.holds(&path, there);
                if may || there == value {
                    *there = value.clone();
                    written.note(path, value);
                }
            }
            (None, _) => {
                theirs.insert(name.clone(), value.clone());
                if let Value::Object(inner) = value {
                    written.learn(&format!("{path}."), inner);
                }
                written.note(path, value);
            }
        }
    }
}

/// Removes the field at `path` if its value is ours.
pub fn forget(theirs: &mut Map<String, Value>, path: &str, written: &Written) {
    let (holder, name) = match path.split_once('.') {
        Some((outer, name)) => match theirs.get_mut(outer) {
            Some(Value::Object(inner)) => (inner, name),
            _ => return,
        },
        None => (theirs, path),
    };
    if holder.get(name).is_some_and(|there| written.holds(path, there)) {
        // Unlike `remove`, this keeps the order of the other fields.
        holder.shift_remove(name);
    }
}

//! Two writers, one checkpoint: what we know goes in, what the agent (or another tool) wrote itself stays.
//!
//! A field is ours as long as it holds a value that we put there, or that stood there when our stage started. A field
//! that holds anything else was written by somebody else meanwhile, and they know better. Agents rewrite the whole
//! file from a copy that is seconds old, so *any* value that we wrote during the stage counts as ours, not the last only.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// How many values of one field are remembered; an agent's copy is not older than that many writes.
const REMEMBERED: usize = 256;
/// The same for a later process: no agent of this one is left by then to write an old copy.
const HANDED_ON: usize = 8;

/// Lists that grow on both sides.
const UNITED: [&str; 1] = ["output_files"];

/// What each field held through us, by path (`progress.tasks_total`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Written(BTreeMap<String, Vec<Value>>);

impl Written {
    /// Everything in `seen` counts as ours to change: it is from before our stage.
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

    /// Remembers that the field at `path` held `value` through us.
    fn note(&mut self, path: String, value: &Value) {
        let values = self.0.entry(path).or_default();
        if values.last() != Some(value) {
            if values.len() == REMEMBERED {
                values.remove(0);
            }
            values.push(value.clone());
        }
    }

    /// The newest values of each field, for a later process.
    pub fn newest(&self) -> Self {
        let newest = |values: &Vec<Value>| values[values.len().saturating_sub(HANDED_ON)..].to_vec();
        Self(self.0.iter().map(|(path, values)| (path.clone(), newest(values))).collect())
    }

    /// Whether `value` at `path` is one of ours.
    pub fn holds(&self, path: &str, value: &Value) -> bool {
        self.0.get(path).is_some_and(|values| values.contains(value))
    }
}

/// Puts `ours` into `theirs`. A field that somebody else wrote stays, unless `always` names its path. New fields go to
/// the end; the order of what is there stays.
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

/// Takes the field at `path` away, where what it holds is ours.
pub fn forget(theirs: &mut Map<String, Value>, path: &str, written: &Written) {
    let (holder, name) = match path.split_once('.') {
        Some((outer, name)) => match theirs.get_mut(outer) {
            Some(Value::Object(inner)) => (inner, name),
            _ => return,
        },
        None => (theirs, path),
    };
    if holder.get(name).is_some_and(|there| written.holds(path, there)) {
        // Not `remove`, which would move the last field into the gap.
        holder.shift_remove(name);
    }
}

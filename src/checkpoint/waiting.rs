//! Steps that could not be written yet, saved to a file so that a later process writes them. The journal records that
//! a step has ended, but not its progress or its files.

use super::step::Step;
use super::update::Tracker;
use serde::Deserialize;
use serde_json::{Value, json};

/// The text of that file.
pub(super) fn text(tracker: &Tracker) -> String {
    json!({ "steps": tracker.waiting() }).to_string()
}

/// The steps in that file. A file of an older version is empty. If the text cannot be read, the journal has to
/// suffice.
pub(super) fn steps(text: &str) -> Vec<Step> {
    let document: Value = serde_json::from_str(text).unwrap_or_default();
    let steps = document["steps"].as_array().into_iter().flatten();
    steps.filter_map(|step| Step::deserialize(step).ok()).collect()
}

//! Steps that could not be written yet, as the file keeps them that marks a run whose checkpoints wait: a later process
//! writes them from there. The journal tells that a step has ended, but not how far its agent was, nor what it wrote.

use super::step::Step;
use super::update::Tracker;
use serde::Deserialize;
use serde_json::{Value, json};

/// The file's text.
pub(super) fn text(tracker: &Tracker) -> String {
    json!({ "steps": tracker.waiting() }).to_string()
}

/// The steps in it. A file of an older version is empty; what cannot be read is left to the journal.
pub(super) fn steps(text: &str) -> Vec<Step> {
    let document: Value = serde_json::from_str(text).unwrap_or_default();
    let steps = document["steps"].as_array().into_iter().flatten();
    steps.filter_map(|step| Step::deserialize(step).ok()).collect()
}

//! The checkpoint key of each stage: the protocol's keys for the protocol's jobs, and a key of our own for any other
//! stage.

use crate::declaration::model::{Action, Pipeline};
use std::collections::{HashMap, HashSet};

/// The protocol's keys, by the names of the jobs.
const JOBS: [(&str, &str); 10] = [
    ("writing-plans", "PLAN"),
    ("executing-plans", "EXECUTE"),
    ("systematic-debugging", "FIX"),
    ("brainstorming", "BRAINSTORM"),
    ("loop-planner", "PLAN"),
    ("loop-executor", "EXECUTE"),
    ("loop-fixer", "FIX"),
    ("loop-plan-evaluator", "EVALUATE_PLAN"),
    ("loop-execution-evaluator", "EVALUATE_EXECUTION"),
    ("business-docs-sync", "BUSINESS_SYNC"),
];

/// Words that other tools interpret, so we never write them as keys.
const RESERVED: [&str; 8] =
    ["PARALLEL_EXECUTE", "COMPLETE", "SKIPPED", "NOT_STARTED", "IN_PROGRESS", "PASSED", "FAILED", "BLOCKED"];

/// The protocol's key for a superpower, agent or skill. The name may have its collection as a prefix
/// (`superpowers:writing-plans`).
pub fn protocol_key(name: &str) -> Option<&'static str> {
    let bare = name.rsplit([':', '/']).next().unwrap_or(name);
    JOBS.iter().find(|(job, _)| *job == bare).map(|(_, key)| *key)
}

/// The checkpoint keys of a superpower's stages, each stage given by its name and action; `None` for a gate alone.
///
/// Stages with the same job share the protocol's key, because other tools look for that key only.
pub fn keys<'a>(
    stages: impl IntoIterator<Item = (Option<&'a str>, Option<&'a Action>)>,
) -> Vec<Option<String>> {
    let stages: Vec<_> = stages.into_iter().collect();
    let mut taken = Taken::default();
    taken.keys.extend(stages.iter().filter_map(|(_, action)| job(action.as_ref()?)).map(str::to_owned));
    stages
        .into_iter()
        .map(|(name, action)| {
            let action = action?;
            if let Some(key) = job(action) {
                return Some(key.to_owned());
            }
            Some(taken.take(own(name.unwrap_or_else(|| action_name(action)))))
        })
        .collect()
}

fn job(action: &Action) -> Option<&'static str> {
    match action {
        Action::Agent(name) | Action::Skill(name) => protocol_key(name),
        Action::Pipeline(_) => None,
    }
}

fn action_name(action: &Action) -> &str {
    match action {
        Action::Agent(name) | Action::Skill(name) => name,
        Action::Pipeline(Pipeline::Standard8Phase) => "standard-8-phase",
    }
}

/// A key in upper snake case that is not reserved.
fn own(name: &str) -> String {
    let key = upper_snake(name);
    if RESERVED.contains(&key.as_str()) { format!("{key}_STAGE") } else { key }
}

/// The keys that stages already have.
#[derive(Default)]
struct Taken {
    keys: HashSet<String>,
    /// For each taken key, the number to try next as its suffix.
    numbers: HashMap<String, u32>,
}

impl Taken {
    /// Returns the key, with the first free number as a suffix if it is taken.
    fn take(&mut self, key: String) -> String {
        if self.keys.insert(key.clone()) {
            return key;
        }
        let number = self.numbers.entry(key.clone()).or_insert(2);
        loop {
            let numbered = format!("{key}_{number}");
            *number += 1;
            if self.keys.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

/// Converts `ux-researcher` and `uxResearcher` to `UX_RESEARCHER`.
fn upper_snake(name: &str) -> String {
    let mut key = String::new();
    let mut before = None::<char>;
    for letter in name.chars() {
        let hump = letter.is_uppercase() && before.is_some_and(|before| before.is_lowercase());
        if (hump || !letter.is_alphanumeric()) && !key.is_empty() && !key.ends_with('_') {
            key.push('_');
        }
        if letter.is_alphanumeric() {
            key.extend(letter.to_uppercase());
        }
        before = Some(letter);
    }
    let key = key.trim_end_matches('_');
    if key.is_empty() { "STAGE".to_owned() } else { key.to_owned() }
}

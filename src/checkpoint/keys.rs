//! Which checkpoint a stage keeps: the protocol's own keys for the protocol's own jobs, a name of its own for any other.

use crate::declaration::model::{Action, Pipeline};
use std::collections::{HashMap, HashSet};

/// Keys of the protocol that a job has under any of its names.
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

/// Words that mean something else to other tools, and so are never written as a key.
const RESERVED: [&str; 8] =
    ["PARALLEL_EXECUTE", "COMPLETE", "SKIPPED", "NOT_STARTED", "IN_PROGRESS", "PASSED", "FAILED", "BLOCKED"];

/// The protocol's key for a superpower, agent or skill, with or without the collection that it comes from
/// (`superpowers:writing-plans`).
pub fn protocol_key(name: &str) -> Option<&'static str> {
    let bare = name.rsplit([':', '/']).next().unwrap_or(name);
    JOBS.iter().find(|(job, _)| *job == bare).map(|(_, key)| *key)
}

/// The checkpoint keys of a superpower's stages, each given by its name and its action; none for a gate alone.
///
/// The protocol's keys are shared by all stages that do the job, since other tools look for them under this name only.
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

/// A name in upper snake case that is none of the reserved words.
fn own(name: &str) -> String {
    let key = upper_snake(name);
    if RESERVED.contains(&key.as_str()) { format!("{key}_STAGE") } else { key }
}

/// The keys that are some stage's already.
#[derive(Default)]
struct Taken {
    keys: HashSet<String>,
    /// For a key that is taken, the number from which on it may be free with a number behind it.
    numbers: HashMap<String, u32>,
}

impl Taken {
    /// The key, or the first free one that is it and a number.
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

/// `ux-researcher` and `uxResearcher` as `UX_RESEARCHER`.
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

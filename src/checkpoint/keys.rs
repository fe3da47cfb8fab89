//! Which checkpoint a stage keeps: the protocol's own keys for the protocol's own jobs, a name of its own for any other.

use crate::declaration::model::{Action, Pipeline};

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
    let mut taken: Vec<String> =
        stages.iter().filter_map(|(_, action)| job(action.as_ref()?)).map(str::to_owned).collect();
    stages
        .into_iter()
        .map(|(name, action)| {
            let action = action?;
            if let Some(key) = job(action) {
                return Some(key.to_owned());
            }
            let key = free(own(name.unwrap_or_else(|| action_name(action))), &taken);
            taken.push(key.clone());
            Some(key)
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

fn free(key: String, taken: &[String]) -> String {
    if !taken.contains(&key) {
        return key;
    }
    (2..).map(|number| format!("{key}_{number}")).find(|key| !taken.contains(key)).unwrap_or(key)
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

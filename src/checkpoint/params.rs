//! The parameters of the protocol's skills, as text after the skill's name: `--name='value'`.

use super::keys::protocol_key;
use super::place::Place;

/// Parameters that come from the stage's inputs, in the protocol's order.
const FROM_INPUTS: [&str; 11] = [
    "spec",
    "output-dir",
    "context-files",
    "format",
    "include-dag",
    "plan",
    "mode",
    "failures",
    "max-attempts",
    "context",
    "options-count",
];

/// The parameters for `skill`; `None` if it is not one of the protocol. `run_id` names the track if there is none.
/// `resume_from` is the last task of an interrupted `EXECUTE` whose session is lost.
pub fn parameters<'a>(
    skill: &str,
    inputs: impl IntoIterator<Item = (&'a str, &'a str)>,
    place: &Place,
    run_id: &str,
    resume_from: Option<&str>,
) -> Option<String> {
    let key = protocol_key(skill)?;
    let inputs: Vec<_> = inputs.into_iter().map(|(name, value)| (name.replace('_', "-"), value)).collect();
    let mut parameters: Vec<String> = FROM_INPUTS
        .iter()
        .filter_map(|name| inputs.iter().find(|(given, _)| given == name))
        .map(|(name, value)| parameter(name, value))
        .collect();
    let dir = place.relative();
    parameters.push(parameter("track-id", place.track().unwrap_or(run_id)));
    parameters.push(parameter("track-dir", &dir));
    parameters.push(parameter("metadata", &place.named()));
    if let Some(task) = resume_from.filter(|_| key == "EXECUTE") {
        parameters.push(resume_from_task(task));
    }
    Some(parameters.join(" "))
}

/// The parameter with which an interrupted `EXECUTE` continues.
pub fn resume_from_task(task: &str) -> String {
    parameter("resume-from", task)
}

fn parameter(name: &str, value: &str) -> String {
    format!("--{name}='{}'", value.replace('\'', "'\\''"))
}

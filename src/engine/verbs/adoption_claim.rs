//! Describes what another tool's `squad.json` claims about a run.

use crate::plan::Plan;
use crate::run::event::Adopted;

/// The claim, which nothing but the file confirms: `stages 1–3 count as run, gate 2 as passed: so says squad.json`.
pub fn claim(plan: &Plan, adopted: &Adopted) -> String {
    let before = &plan.order[..plan.rank(adopted.stage)];
    let mut gates: Vec<usize> = before.iter().copied().filter(|&stage| plan.has_human_gate(stage)).collect();
    let mut all: Vec<usize> = before.to_vec();
    for list in [&mut gates, &mut all] {
        list.sort_unstable();
    }
    let mut said = Vec::new();
    if !all.is_empty() {
        let verb = if all.len() == 1 { "counts" } else { "count" };
        said.push(format!("{} {verb} as run", numbered("stage", &all)));
    }
    if !gates.is_empty() {
        said.push(format!("{} as passed", numbered("gate", &gates)));
    }
    let stage = adopted.stage;
    if plan.has_action(stage) && plan.has_human_gate(stage) && adopted.status == "paused" {
        said.push(format!("the work of stage {} as done", stage + 1));
    }
    if said.is_empty() {
        said.push("no stage counts as run".to_owned());
    }
    format!("{}: so says squad.json", said.join(", "))
}

/// `stage 1`, or `stages 1–3 and 5`; the indices are sorted.
fn numbered(noun: &str, indices: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for position in indices.iter().map(|index| index + 1) {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == position => *last = position,
            _ => ranges.push((position, position)),
        }
    }
    let range = |&(first, last): &(usize, usize)| match last - first {
        0 => first.to_string(),
        _ => format!("{first}–{last}"),
    };
    let words: Vec<String> = ranges.iter().map(range).collect();
    let noun = if indices.len() == 1 { noun.to_owned() } else { format!("{noun}s") };
    match words.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{noun} {} and {last}", others.join(", ")),
        _ => format!("{noun} {}", words.concat()),
    }
}

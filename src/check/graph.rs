//! Checks references between stages: names, dependencies, rework, and gates with nothing to approve.

use super::names::{is_kebab, kebab};
use crate::declaration::Sink;
use crate::declaration::draft::{Draft, DraftStage, Text};
use crate::declaration::order;
use crate::declaration::yaml_writer::plain_or_quoted;
use crate::diagnostic::Code;
use crate::source::Span;
use std::collections::HashMap;

/// The stages by name, and the order in which they run.
pub struct Order<'a> {
    by_name: HashMap<&'a str, usize>,
    /// Names and their positions, in the order of the text.
    named: Vec<(&'a str, usize)>,
    /// Rank in the order of execution, by position.
    rank: Vec<usize>,
    /// Whether a stage could not be read, so that an unknown name may be the name of that stage.
    unsure: bool,
}

/// The target of a reference to a stage.
pub enum Reference {
    /// To an earlier stage.
    Earlier,
    /// The stage itself, or a later one.
    NotEarlier,
    /// No known stage.
    Unknown,
}

impl<'a> Order<'a> {
    /// The position, from 0, of a stage's name or number.
    fn position(&self, name: &str) -> Option<usize> {
        let number = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        self.by_name.get(name).copied().or(number.filter(|&at| at < self.rank.len()))
    }

    /// The target of `name`, a stage's name or number, seen from the stage at `from` (from 0).
    pub fn reference(&self, name: &str, from: usize) -> Reference {
        match self.position(name) {
            Some(at) if self.rank[at] < self.rank[from] => Reference::Earlier,
            Some(_) => Reference::NotEarlier,
            None => Reference::Unknown,
        }
    }

    /// The names of the stages that run before the stage at `from`.
    fn names_before(&self, from: usize) -> impl Iterator<Item = &'a str> {
        self.named.iter().filter(move |(_, at)| self.rank[*at] < self.rank[from]).map(|(name, _)| *name)
    }

    /// Reports a reference that is not to an earlier stage. `part` is its position in `text`.
    pub fn check(&self, sink: &mut Sink<'_>, text: &Text, part: Option<Span>, name: &str, from: usize) {
        let problem = match self.reference(name, from) {
            Reference::Earlier => return,
            Reference::Unknown if self.unsure => return,
            Reference::NotEarlier if self.position(name) == Some(from) => {
                format!("stage \"{name}\" is this stage, not an earlier one")
            }
            Reference::NotEarlier => format!("stage \"{name}\" does not run before this one"),
            Reference::Unknown => format!("unknown stage \"{name}\""),
        };
        let near = sink.nearest(name, self.names_before(from)).filter(|near| *near != name);
        let hint = near.map(|near| format!(" (did you mean \"{near}\"?)")).unwrap_or_default();
        let message = format!("{problem}{hint}");
        let report = match part {
            Some(part) => sink.inside(Code::UnknownStage, text, part, message),
            None => sink.at(Code::UnknownStage, &text.slot, message),
        };
        if let Some(near) = near {
            let written = if part.is_some() { near.to_owned() } else { plain_or_quoted(near) };
            report.fix(format!("change to \"{near}\""), written);
        }
    }
}

/// Checks all references between stages and returns their order.
pub fn check<'a>(sink: &mut Sink<'_>, draft: &'a Draft) -> Order<'a> {
    let by_name = names(sink, draft);
    let mut named: Vec<(&str, usize)> = by_name.iter().map(|(name, at)| (*name, *at)).collect();
    named.sort_by_key(|(_, at)| *at);
    let rank = dependencies(sink, draft, &by_name, &named);
    let order = Order { by_name, named, rank, unsure: draft.stages_unsure };
    for (at, stage) in draft.stages.iter().enumerate() {
        if let Some(rework) = &stage.rework {
            order.check(sink, rework, None, &rework.value, at);
        }
    }
    leading_gates(sink, draft, &order);
    order
}

fn names<'a>(sink: &mut Sink<'_>, draft: &'a Draft) -> HashMap<&'a str, usize> {
    let mut by_name: HashMap<&str, usize> = HashMap::new();
    for (at, stage) in draft.stages.iter().enumerate() {
        let Some(name) = &stage.name else { continue };
        let value = name.value.as_str();
        let number = value.chars().all(|c| c.is_ascii_digit());
        if !is_kebab(value) || number {
            let message = if number {
                format!("invalid stage name \"{value}\": a number always means a position")
            } else {
                format!("invalid stage name \"{value}\"; use a-z, digits and \"-\" between them")
            };
            let report = sink.at(Code::InvalidName, &name.slot, message);
            if let Some(near) = kebab(value).filter(|_| !number) {
                report.fix(format!("change to \"{near}\""), plain_or_quoted(&near));
            }
        }
        match by_name.get(value) {
            None => {
                by_name.insert(value, at);
            }
            Some(&earlier) => {
                let earlier =
                    draft.stages[earlier].name.as_ref().map(|text| sink.tree.node(text.slot.node).span);
                let message = format!("another stage has the name \"{value}\"");
                sink.at(Code::DuplicateStage, &name.slot, message)
                    .related(earlier.unwrap_or_default(), "first here");
            }
        }
    }
    by_name
}

/// Reads the dependencies and computes the rank of each position.
fn dependencies(
    sink: &mut Sink<'_>,
    draft: &Draft,
    by_name: &HashMap<&str, usize>,
    named: &[(&str, usize)],
) -> Vec<usize> {
    let mut depends = vec![Vec::new(); draft.stages.len()];
    for (at, stage) in draft.stages.iter().enumerate() {
        for text in &stage.depends_on {
            match by_name.get(text.value.as_str()) {
                Some(&before) => depends[at].push(before),
                None if draft.stages_unsure => {}
                None => unknown_dependency(sink, text, stage, named),
            }
        }
    }
    let order = order::order(&depends).unwrap_or_else(|waiting| {
        cycles(sink, draft, &depends, &waiting);
        (0..depends.len()).collect()
    });
    let mut rank = vec![0; depends.len()];
    for (when, &at) in order.iter().enumerate() {
        rank[at] = when;
    }
    rank
}

fn unknown_dependency(sink: &mut Sink<'_>, text: &Text, stage: &DraftStage, named: &[(&str, usize)]) {
    let own = stage.name.as_ref().map(|name| name.value.as_str());
    let others = named.iter().map(|(name, _)| *name).filter(|name| Some(*name) != own);
    let near = sink.nearest(&text.value, others);
    let hint = near.map(|near| format!(" (did you mean \"{near}\"?)")).unwrap_or_default();
    let message = format!("no stage has the name \"{}\"{hint}", text.value);
    let report = sink.at(Code::UnknownDependency, &text.slot, message);
    if let Some(near) = near {
        report.fix(format!("change to \"{near}\""), plain_or_quoted(near));
    }
}

/// Reports each cycle once, at the dependency that closes it in the order of the text.
fn cycles(sink: &mut Sink<'_>, draft: &Draft, depends: &[Vec<usize>], waiting: &[usize]) {
    let mut seen = vec![false; depends.len()];
    for &start in waiting {
        // Every blocked stage waits for another blocked one, so this walk must come back to one of its own.
        let mut walk: Vec<usize> = Vec::new();
        let mut on_walk: HashMap<usize, usize> = HashMap::new();
        let mut at = start;
        while !seen[at] {
            seen[at] = true;
            on_walk.insert(at, walk.len());
            walk.push(at);
            let next = depends[at].iter().copied().find(|next| waiting.binary_search(next).is_ok());
            let Some(next) = next else { break };
            at = next;
        }
        let Some(&from) = on_walk.get(&at) else { continue };
        report_cycle(sink, draft, &walk[from..]);
    }
}

fn report_cycle(sink: &mut Sink<'_>, draft: &Draft, members: &[usize]) {
    let name = |at: usize| draft.stages[at].name.as_ref().map_or("", |name| name.value.as_str());
    let Some((&first, rest)) = members.split_first() else { return };
    let next = name(rest.first().copied().unwrap_or(first));
    let Some(text) = draft.stages[first].depends_on.iter().find(|text| text.value == next) else { return };
    let message = if rest.is_empty() {
        format!("stage \"{}\" depends on itself", name(first))
    } else {
        let circle: Vec<&str> = members.iter().chain([&first]).map(|&at| name(at)).take(20).collect();
        format!("stages depend on each other in a cycle: {}", circle.join(" → "))
    };
    let places: Vec<(Span, String)> = rest
        .iter()
        .take(20)
        .filter_map(|&at| draft.stages[at].name.as_ref())
        .map(|text| (sink.tree.node(text.slot.node).span, format!("\"{}\" is part of the cycle", text.value)))
        .collect();
    let mut report = sink.at(Code::DependencyCycle, &text.slot, message);
    for (span, message) in places {
        report = report.related(span, message);
    }
}

fn leading_gates(sink: &mut Sink<'_>, draft: &Draft, order: &Order<'_>) {
    let acts = |stage: &DraftStage| !stage.actions.is_empty() || stage.unsure;
    let first =
        draft.stages.iter().enumerate().filter(|(_, stage)| acts(stage)).map(|(at, _)| order.rank[at]).min();
    if draft.stages_unsure {
        return;
    }
    for (at, stage) in draft.stages.iter().enumerate() {
        let Some(gate) = stage.gate.as_ref().filter(|gate| gate.value == "human-approval") else { continue };
        if first.is_none_or(|first| order.rank[at] < first) {
            sink.at(
                Code::LeadingGate,
                &gate.slot,
                "no stage runs before this gate, so there is nothing to approve",
            );
        }
    }
}

//! A declaration combined with a run's inputs, with its stages in the order of execution.

use crate::condition::Expr;
use crate::declaration::model::{Action, Declaration, Gate, Input, InputKind, Stage};
use crate::template::{self, Variable};
use std::cell::Cell;
use std::collections::BTreeMap;
use thiserror::Error;

/// The values of a run's inputs, defaults applied.
pub type Inputs = BTreeMap<String, String>;

/// Maximum number of characters of a value in a label.
const LABEL_VALUE_CHARS: usize = 200;

/// Why a run cannot start with these inputs.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum InputError {
    /// Required inputs without a value.
    #[error("missing {}", .0.iter().map(|input| format!("\"{}\"", input.name.value)).collect::<Vec<_>>().join(", "))]
    Missing(Vec<Input>),
    /// An input that the superpower does not declare.
    #[error("unknown input \"{key}\"{hint}; inputs: {}", if known.is_empty() { "none".into() } else { known.join(", ") })]
    Unknown {
        key: String,
        known: Vec<String>,
        /// ` (did you mean …)`, or empty.
        hint: String,
    },
    /// A value that the input does not allow.
    #[error("invalid value \"{value}\" for input \"{key}\"; expected {}", allowed.join(" or "))]
    Invalid {
        /// Which input.
        key: String,
        /// What was given.
        value: String,
        /// What it takes.
        allowed: Vec<String>,
    },
}

/// A declaration, the inputs, and the order of execution.
#[derive(Clone, Debug)]
pub struct Plan {
    pub declaration: Declaration,
    /// Every value, defaults applied.
    pub inputs: Inputs,
    /// Indices into `declaration.stages`, in execution order. A "rank" is a position in this list.
    pub order: Vec<usize>,
    ranks: Vec<usize>,
    /// Labels that never change, because they contain no stage's result.
    labels: Vec<Option<String>>,
}

/// What carries out a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor<'a> {
    Agent(&'a str),
    Skill(&'a str),
    /// The orchestrator.
    Pipeline,
    /// No action: a human decides.
    Gate,
}

impl<'a> Actor<'a> {
    /// The `kind` of a stage in a snapshot.
    pub fn kind(self) -> &'static str {
        match self {
            Actor::Agent(_) => "agent",
            Actor::Skill(_) => "skill",
            Actor::Pipeline => "pipeline",
            Actor::Gate => "gate",
        }
    }

    /// The agent or skill; empty for a gate.
    pub fn name(self) -> &'a str {
        match self {
            Actor::Agent(name) | Actor::Skill(name) => name,
            Actor::Pipeline => ORCHESTRATOR,
            Actor::Gate => "",
        }
    }
}

impl Plan {
    /// Applies defaults, validates the inputs and sorts the stages.
    pub fn new(declaration: Declaration, given: &Inputs) -> Result<Self, InputError> {
        let inputs = resolve(&declaration.inputs, given)?;
        Ok(Self::with(declaration, inputs))
    }

    fn with(declaration: Declaration, inputs: Inputs) -> Self {
        let order = order(&declaration.stages);
        let mut ranks = vec![0; order.len()];
        for (rank, &stage) in order.iter().enumerate() {
            ranks[stage] = rank;
        }
        let mut plan = Self { declaration, inputs, order, ranks, labels: Vec::new() };
        plan.labels = (0..plan.total()).map(|index| plan.fixed_label(index)).collect();
        plan
    }

    /// Rebuilds the plan of a run from its journal. Inputs are not validated again: they were when they were given, and
    /// a masked secret fits no type. Undeclared inputs, which came with another tool's run, are kept.
    pub fn from_journal(declaration: Declaration, given: &Inputs) -> Self {
        let named = |key: &String| declaration.inputs.iter().any(|input| input.name.value == *key);
        let mut inputs: Inputs = given
            .iter()
            .filter(|(key, _)| !named(key))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        for input in &declaration.inputs {
            let name = &input.name.value;
            let default = || input.default.as_ref().map(|default| default.value.clone());
            let given = given.get(name).filter(|value| !(input.required && value.is_empty()));
            if let Some(value) = given.cloned().or_else(default) {
                inputs.insert(name.clone(), value);
            }
        }
        Self::with(declaration, inputs)
    }

    /// The plan of an active run after an edit of its declaration. Inputs that it no longer declares are dropped.
    pub fn with_edited(declaration: Declaration, inputs: &Inputs) -> Result<Self, InputError> {
        let known = |name: &String| declaration.inputs.iter().any(|input| input.name.value == *name);
        let kept =
            inputs.iter().filter(|(name, _)| known(name)).map(|(name, value)| (name.clone(), value.clone()));
        let kept: Inputs = kept.collect();
        Self::new(declaration, &kept)
    }

    pub fn name(&self) -> &str {
        &self.declaration.name.value
    }

    pub fn total(&self) -> usize {
        self.declaration.stages.len()
    }

    /// The stage at an index of the list.
    pub fn stage(&self, index: usize) -> &Stage {
        &self.declaration.stages[index]
    }

    /// Position of a stage in the order of execution.
    pub fn rank(&self, index: usize) -> usize {
        self.ranks[index]
    }

    pub fn when(&self, index: usize) -> Option<&Expr> {
        self.stage(index).when.as_ref().map(|when| &when.value)
    }

    /// Whether the stage has a gate where a human decides.
    pub fn has_human_gate(&self, index: usize) -> bool {
        matches!(self.stage(index).gate.as_ref().map(|gate| gate.value), Some(Gate::HumanApproval))
    }

    /// Whether the stage has an action.
    pub fn has_action(&self, index: usize) -> bool {
        self.stage(index).action.is_some()
    }

    pub fn actor(&self, index: usize) -> Actor<'_> {
        match self.stage(index).action.as_ref().map(|action| &action.value) {
            Some(Action::Agent(name)) => Actor::Agent(name),
            Some(Action::Skill(name)) => Actor::Skill(name),
            Some(Action::Pipeline(_)) => Actor::Pipeline,
            None => Actor::Gate,
        }
    }

    /// Number of attempts before the stage counts as failed.
    pub fn max_attempts(&self, index: usize) -> u32 {
        self.stage(index).max_attempts.as_ref().map_or(3, |max| max.value)
    }

    /// Finds a stage by name or by position (from 1).
    pub fn find(&self, reference: &str) -> Option<usize> {
        let named = |stage: &Stage| stage.name.as_ref().is_some_and(|name| name.value == reference);
        self.declaration.stages.iter().position(named).or_else(|| {
            let position: usize = reference.parse().ok()?;
            (1..=self.total()).contains(&position).then(|| position - 1)
        })
    }

    /// The stage's label on one line: its description with the values filled in, or else its action.
    pub fn label(&self, index: usize, result: &dyn Fn(usize) -> String) -> String {
        self.labels[index].clone().unwrap_or_else(|| self.rendered_label(index, result))
    }

    fn fixed_label(&self, index: usize) -> Option<String> {
        let uses_result = Cell::new(false);
        let label = self.rendered_label(index, &|_| {
            uses_result.set(true);
            String::new()
        });
        (!uses_result.get()).then_some(label)
    }

    fn rendered_label(&self, index: usize, result: &dyn Fn(usize) -> String) -> String {
        let stage = self.stage(index);
        let Some(description) = &stage.description else {
            return match stage.action.as_ref().map(|action| &action.value) {
                Some(Action::Agent(name)) => format!("agent {name}"),
                Some(Action::Skill(name)) => format!("skill {name}"),
                Some(Action::Pipeline(_)) => "pipeline standard-8-phase".into(),
                None => "human approval".into(),
            };
        };
        let value = |variable: &Variable| {
            let text = self.value(variable, result);
            Some(text.chars().take(LABEL_VALUE_CHARS).collect::<String>())
        };
        one_line(&template::render(&description.value, &value))
    }

    /// The value of a variable.
    pub fn value(&self, variable: &Variable, result: &dyn Fn(usize) -> String) -> String {
        match variable {
            Variable::Input(name) => self.inputs.get(name).cloned().unwrap_or_default(),
            Variable::StageResult(reference) => self.find(reference).map(result).unwrap_or_default(),
        }
    }

    /// The stage's inputs: those of the run, overridden by its own.
    pub fn stage_inputs(&self, index: usize, result: &dyn Fn(usize) -> String) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = self
            .declaration
            .inputs
            .iter()
            .map(|input| input.name.value.clone())
            .map(|name| {
                let value = self.inputs.get(&name).cloned().unwrap_or_default();
                (name, value)
            })
            .collect();
        let stage = self.stage(index);
        let own = stage.inputs.iter().map(|(name, text)| {
            (
                name.value.clone(),
                template::render(&text.value, &|variable| Some(self.value(variable, result))),
            )
        });
        let mode = matches!(stage.action.as_ref().map(|action| &action.value), Some(Action::Pipeline(_)))
            .then(|| ("mode".to_string(), "standard-8-phase".to_string()));
        for (name, value) in mode.into_iter().chain(own) {
            match all.iter_mut().find(|(known, _)| *known == name) {
                Some(entry) => entry.1 = value,
                None => all.push((name, value)),
            }
        }
        all
    }
}

/// The agent that runs pipeline stages.
pub const ORCHESTRATOR: &str = "orchestrator";

/// Replaces each run of line breaks by one space.
pub fn one_line(text: &str) -> String {
    text.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

fn resolve(declared: &[Input], given: &Inputs) -> Result<Inputs, InputError> {
    let known = || declared.iter().map(|input| input.name.value.as_str());
    if let Some(key) = given.keys().find(|key| !known().any(|name| name == *key)) {
        return Err(InputError::Unknown {
            key: key.clone(),
            known: known().map(str::to_owned).collect(),
            hint: crate::suggest::did_you_mean(key, known()),
        });
    }
    let mut inputs = Inputs::new();
    let mut missing = Vec::new();
    for input in declared {
        let name = &input.name.value;
        let default = input.default.as_ref().map(|default| default.value.clone());
        match given.get(name).filter(|value| !(input.required && value.is_empty())) {
            Some(value) => {
                let allowed: Vec<String> = match &input.kind {
                    InputKind::String => Vec::new(),
                    InputKind::Bool => vec!["true".into(), "false".into()],
                    InputKind::Enum(values) => values.iter().map(|value| value.value.clone()).collect(),
                };
                if !allowed.is_empty() && !allowed.contains(value) {
                    return Err(InputError::Invalid { key: name.clone(), value: value.clone(), allowed });
                }
                inputs.insert(name.clone(), value.clone());
            }
            None => match default {
                Some(value) => drop(inputs.insert(name.clone(), value)),
                None if input.required => missing.push(input.clone()),
                None => {}
            },
        }
    }
    if missing.is_empty() { Ok(inputs) } else { Err(InputError::Missing(missing)) }
}

/// The listed order, or with `depends_on` the topological order nearest to it: always the first listed stage whose
/// dependencies are done. The checker refuses cycles and unknown names; if one got here anyway, the stages that it
/// blocks follow in listed order.
fn order(stages: &[Stage]) -> Vec<usize> {
    let by_name: BTreeMap<&str, usize> = stages
        .iter()
        .enumerate()
        .filter_map(|(index, stage)| Some((stage.name.as_ref()?.value.as_str(), index)))
        .collect();
    let mut waits = vec![0usize; stages.len()];
    let mut dependents: Vec<Vec<usize>> = vec![Vec::new(); stages.len()];
    for (index, stage) in stages.iter().enumerate() {
        for &dependency in stage.depends_on.iter().filter_map(|name| by_name.get(name.value.as_str())) {
            waits[index] += 1;
            dependents[dependency].push(index);
        }
    }
    let mut ready: std::collections::BTreeSet<usize> =
        (0..stages.len()).filter(|&index| waits[index] == 0).collect();
    let mut order = Vec::with_capacity(stages.len());
    while let Some(index) = ready.pop_first() {
        order.push(index);
        for &dependent in &dependents[index] {
            waits[dependent] -= 1;
            if waits[dependent] == 0 {
                ready.insert(dependent);
            }
        }
    }
    order.extend((0..stages.len()).filter(|&index| waits[index] > 0));
    order
}

//! A declaration with a user's inputs: what will be walked through, in which order.

use crate::condition::Expr;
use crate::declaration::model::{Action, Declaration, Gate, Input, InputKind, Stage};
use crate::template::{self, Variable};
use std::cell::Cell;
use std::collections::BTreeMap;
use thiserror::Error;

/// The values of a run's inputs, defaults applied.
pub type Inputs = BTreeMap<String, String>;

/// Characters of a substituted value that a label keeps.
const LABEL_VALUE_CHARS: usize = 200;

/// Why a run cannot start with these inputs.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum InputError {
    /// Required inputs that nobody gave.
    #[error("missing {}", .0.iter().map(|input| format!("\"{}\"", input.name.value)).collect::<Vec<_>>().join(", "))]
    Missing(Vec<Input>),
    /// A key that the superpower does not declare.
    #[error("unknown input \"{key}\"{hint}, inputs are: {}", if known.is_empty() { "none".into() } else { known.join(", ") })]
    Unknown {
        /// What was given.
        key: String,
        /// What there is.
        known: Vec<String>,
        /// ` (did you mean …)`, or nothing.
        hint: String,
    },
    /// A value that the input does not take.
    #[error("input \"{key}\" cannot be \"{value}\", allowed: {}", allowed.join(", "))]
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
    /// What was declared.
    pub declaration: Declaration,
    /// Every value, defaults applied.
    pub inputs: Inputs,
    /// Execution order: indices into `declaration.stages`. A "rank" is a place in it.
    pub order: Vec<usize>,
    ranks: Vec<usize>,
    /// Labels that say the same all along: those that name no other stage's result.
    labels: Vec<Option<String>>,
}

/// Who does a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor<'a> {
    /// An agent of this name.
    Agent(&'a str),
    /// A skill of this name.
    Skill(&'a str),
    /// The orchestrator.
    Pipeline,
    /// Nobody: a human decides.
    Gate,
}

impl<'a> Actor<'a> {
    /// `agent`, `skill`, `pipeline` or `gate`, as a snapshot has it.
    pub fn kind(self) -> &'static str {
        match self {
            Actor::Agent(_) => "agent",
            Actor::Skill(_) => "skill",
            Actor::Pipeline => "pipeline",
            Actor::Gate => "gate",
        }
    }

    /// The name; empty at a gate.
    pub fn name(self) -> &'a str {
        match self {
            Actor::Agent(name) | Actor::Skill(name) => name,
            Actor::Pipeline => ORCHESTRATOR,
            Actor::Gate => "",
        }
    }
}

impl Plan {
    /// Applies defaults, refuses what does not fit, and sorts the stages.
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

    /// The plan of a run that stands in a journal: its inputs were looked at when they were given, and those that held
    /// a secret are masked there, which no type allows. What the declaration does not name came with another tool's
    /// run, and is kept.
    pub fn kept(declaration: Declaration, given: &Inputs) -> Self {
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

    /// The same for a run that is under way: inputs that the edited declaration has no more are dropped.
    pub fn again(declaration: Declaration, inputs: &Inputs) -> Result<Self, InputError> {
        let known = |name: &String| declaration.inputs.iter().any(|input| input.name.value == *name);
        let kept =
            inputs.iter().filter(|(name, _)| known(name)).map(|(name, value)| (name.clone(), value.clone()));
        let kept: Inputs = kept.collect();
        Self::new(declaration, &kept)
    }

    /// The superpower's name.
    pub fn name(&self) -> &str {
        &self.declaration.name.value
    }

    /// How many stages there are.
    pub fn total(&self) -> usize {
        self.declaration.stages.len()
    }

    /// The stage at an index of the list.
    pub fn stage(&self, index: usize) -> &Stage {
        &self.declaration.stages[index]
    }

    /// The place of a stage in the order of execution.
    pub fn rank(&self, index: usize) -> usize {
        self.ranks[index]
    }

    /// The stage's condition.
    pub fn when(&self, index: usize) -> Option<&Expr> {
        self.stage(index).when.as_ref().map(|when| &when.value)
    }

    /// Whether the stage waits for a human.
    pub fn asks(&self, index: usize) -> bool {
        matches!(self.stage(index).gate.as_ref().map(|gate| gate.value), Some(Gate::HumanApproval))
    }

    /// Whether the stage hands work to somebody.
    pub fn acts(&self, index: usize) -> bool {
        self.stage(index).action.is_some()
    }

    /// Who does a stage.
    pub fn actor(&self, index: usize) -> Actor<'_> {
        match self.stage(index).action.as_ref().map(|action| &action.value) {
            Some(Action::Agent(name)) => Actor::Agent(name),
            Some(Action::Skill(name)) => Actor::Skill(name),
            Some(Action::Pipeline(_)) => Actor::Pipeline,
            None => Actor::Gate,
        }
    }

    /// How often the stage may be attempted before it is failed.
    pub fn max_attempts(&self, index: usize) -> u32 {
        self.stage(index).max_attempts.as_ref().map_or(3, |max| max.value)
    }

    /// The stage that a name or a position (from 1) means.
    pub fn find(&self, reference: &str) -> Option<usize> {
        let named = |stage: &Stage| stage.name.as_ref().is_some_and(|name| name.value == reference);
        self.declaration.stages.iter().position(named).or_else(|| {
            let position: usize = reference.parse().ok()?;
            (1..=self.total()).contains(&position).then(|| position - 1)
        })
    }

    /// The stage's label on one line: its whole description with the values filled in, else what it does.
    pub fn label(&self, index: usize, result: &dyn Fn(usize) -> String) -> String {
        self.labels[index].clone().unwrap_or_else(|| self.rendered_label(index, result))
    }

    fn fixed_label(&self, index: usize) -> Option<String> {
        let asks = Cell::new(false);
        let label = self.rendered_label(index, &|_| {
            asks.set(true);
            String::new()
        });
        (!asks.get()).then_some(label)
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

    /// The text that a `{{…}}` stands for.
    pub fn value(&self, variable: &Variable, result: &dyn Fn(usize) -> String) -> String {
        match variable {
            Variable::Input(name) => self.inputs.get(name).cloned().unwrap_or_default(),
            Variable::StageResult(reference) => self.find(reference).map(result).unwrap_or_default(),
        }
    }

    /// What the stage is given: every input of the run, overridden by its own.
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

/// The agent that a pipeline stage is handed to.
pub const ORCHESTRATOR: &str = "orchestrator";

/// `text` with each run of line breaks as one space.
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

/// The listed order, or, where `depends_on` is used, the topological order that stays nearest to it: always the
/// first listed stage whose dependencies are done. The checker has refused cycles and unknown names; should one
/// come here all the same, the stages that it holds up follow in listed order.
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

//! A declaration as far as it could be read: what the rules judge, faults and all.

use super::model::{Action, Declaration, Expects, Gate, Input, InputKind, Pipeline, Spanned, Stage};
use super::path::Path;
use super::scalar::Core;
use super::yaml::{NodeId, Tree};
use crate::condition::{ConditionError, Expr};
use crate::source::Span;
use std::time::Duration;

/// Where a value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Its node; where an alias stood, the node that the alias stands for.
    pub node: NodeId,
    /// The alias through which it came, outermost.
    pub alias: Option<Span>,
    /// The alias through which the mapping or list came that it stands in.
    pub outer: Option<Span>,
    /// Its key; for an item of a list, the list's.
    pub key: Span,
    /// The way to it, e.g. `stages[2].gate`.
    pub path: Path,
}

/// A scalar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Its value, escapes resolved; a number or bool as written.
    pub value: String,
    /// What it is.
    pub core: Core,
    /// Where it stands.
    pub slot: Slot,
}

/// What can act in a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionKey {
    /// `agent`
    Agent,
    /// `skill`
    Skill,
    /// `pipeline`
    Pipeline,
}

/// A declaration.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// `name`
    pub name: Option<Text>,
    /// `description`
    pub description: Option<Text>,
    /// `version`
    pub version: Option<Text>,
    /// `tags`
    pub tags: Vec<Text>,
    /// `inputs`
    pub inputs: Vec<DraftInput>,
    /// Where `inputs` could not be read whole: then a name that is not among them may be one.
    pub inputs_unsure: bool,
    /// `stages`
    pub stages: Vec<DraftStage>,
    /// The list of stages, if it is one.
    pub stages_slot: Option<Slot>,
    /// Where `stages` could not be read whole.
    pub stages_unsure: bool,
}

/// An input.
#[derive(Clone, Debug)]
pub struct DraftInput {
    /// The item.
    pub slot: Slot,
    /// `name`
    pub name: Option<Text>,
    /// `type`
    pub kind: Option<Text>,
    /// `required`
    pub required: Option<(bool, Slot)>,
    /// `description`
    pub description: Option<Text>,
    /// `default`
    pub default: Option<Text>,
    /// `enum`, where it is a list, even an empty one
    pub values: Option<(Vec<Text>, Slot)>,
}

/// A stage.
#[derive(Clone, Debug)]
pub struct DraftStage {
    /// The item.
    pub slot: Slot,
    /// `name`
    pub name: Option<Text>,
    /// `agent`, `skill` and `pipeline`, in the order of the text
    pub actions: Vec<(ActionKey, Text)>,
    /// Whether the item has something that was meant as an action or gate and could not be read.
    pub unsure: bool,
    /// `description`
    pub description: Option<Text>,
    /// `when`
    pub when: Option<Text>,
    /// The same, parsed
    pub condition: Option<Result<Expr, ConditionError>>,
    /// `inputs`
    pub inputs: Vec<(Text, Text)>,
    /// `depends_on`
    pub depends_on: Vec<Text>,
    /// `gate`
    pub gate: Option<Text>,
    /// `rework`
    pub rework: Option<Text>,
    /// `harness`
    pub harness: Option<Text>,
    /// `timeout`
    pub timeout: Option<Text>,
    /// `max_attempts`
    pub max_attempts: Option<Text>,
    /// `expects`
    pub expects: Option<DraftExpects>,
}

/// `expects`
#[derive(Clone, Debug)]
pub struct DraftExpects {
    /// The mapping.
    pub slot: Slot,
    /// `files`
    pub files: Vec<Text>,
    /// `verdict`
    pub verdict: Option<Text>,
    /// Whether it has any key with a meaning.
    pub given: bool,
}

/// A gate by its name.
pub fn gate(text: &str) -> Option<Gate> {
    match text {
        "human-approval" => Some(Gate::HumanApproval),
        "auto" => Some(Gate::Auto),
        _ => None,
    }
}

/// A pipeline by its name.
pub fn pipeline(text: &str) -> Option<Pipeline> {
    matches!(text, "standard-8-phase" | "standard").then_some(Pipeline::Standard8Phase)
}

/// The longest time that a stage may be given.
const MAX_TIMEOUT: Duration = Duration::from_secs(30 * 24 * 3600);

/// A time: numbers with `h`, `m` and `s`, in this order, each at most once; longer than nothing, at most 30 days.
pub fn duration(text: &str) -> Option<Duration> {
    let (mut rest, mut total) = (text, 0u64);
    for (unit, seconds) in [('h', 3600), ('m', 60), ('s', 1)] {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits > 0 && rest[digits..].starts_with(unit) {
            let number: u64 = rest[..digits].parse().ok()?;
            total = total.checked_add(number.checked_mul(seconds)?)?;
            rest = &rest[digits + 1..];
        }
    }
    let total = Duration::from_secs(total);
    (rest.is_empty() && !total.is_zero() && total <= MAX_TIMEOUT).then_some(total)
}

impl Draft {
    /// The typed model. Nothing where something is wrong that a rule should have reported.
    pub fn finish(&self, tree: &Tree) -> Option<Declaration> {
        let spanned = |text: &Text| Spanned::new(text.value.clone(), tree.node(text.slot.node).span);
        let all = |texts: &[Text]| texts.iter().map(spanned).collect::<Vec<_>>();
        Some(Declaration {
            name: spanned(self.name.as_ref()?),
            description: spanned(self.description.as_ref()?),
            version: spanned(self.version.as_ref()?),
            tags: all(&self.tags),
            inputs: self.inputs.iter().map(|input| input.finish(&spanned)).collect::<Option<_>>()?,
            stages: self.stages.iter().map(|stage| stage.finish(tree, &spanned)).collect::<Option<_>>()?,
        })
        .filter(|declaration| !declaration.stages.is_empty())
    }
}

impl DraftInput {
    fn finish(&self, spanned: &dyn Fn(&Text) -> Spanned<String>) -> Option<Input> {
        Some(Input {
            name: spanned(self.name.as_ref()?),
            kind: match self.kind.as_ref().map_or("string", |kind| &kind.value) {
                "string" => InputKind::String,
                "bool" => InputKind::Bool,
                "enum" => InputKind::Enum(self.values.as_ref()?.0.iter().map(spanned).collect()),
                _ => return None,
            },
            required: self.required.as_ref().is_some_and(|(required, _)| *required),
            description: self.description.as_ref().map(spanned),
            default: self.default.as_ref().map(|default| match default.core {
                Core::Bool(value) => Spanned::new(value.to_string(), spanned(default).span),
                _ => spanned(default),
            }),
        })
    }
}

impl DraftStage {
    fn finish(&self, tree: &Tree, spanned: &dyn Fn(&Text) -> Spanned<String>) -> Option<Stage> {
        let action = match self.actions.as_slice() {
            [] => None,
            [(key, text)] => Some(match key {
                ActionKey::Agent => Action::Agent(text.value.clone()),
                ActionKey::Skill => Action::Skill(text.value.clone()),
                ActionKey::Pipeline => Action::Pipeline(pipeline(&text.value)?),
            })
            .map(|action| Spanned::new(action, spanned(text).span)),
            _ => return None,
        };
        let when = match self.when.as_ref().zip(self.condition.as_ref()) {
            None => None,
            Some((text, condition)) => {
                Some(Spanned::new(condition.as_ref().ok()?.clone(), tree.node(text.slot.node).span))
            }
        };
        let gate = match &self.gate {
            None => None,
            Some(text) => Some(Spanned::new(gate(&text.value)?, spanned(text).span)),
        };
        let timeout = match &self.timeout {
            None => None,
            Some(text) => Some(Spanned::new(duration(&text.value)?, spanned(text).span)),
        };
        let max_attempts = match &self.max_attempts {
            None => None,
            Some(text) => Some(Spanned::new(text.value.parse().ok()?, spanned(text).span)),
        };
        if action.is_none() && gate.is_none() {
            return None;
        }
        Some(Stage {
            span: tree.node(self.slot.node).span,
            name: self.name.as_ref().map(spanned),
            action,
            description: self.description.as_ref().map(spanned),
            when,
            inputs: self.inputs.iter().map(|(key, value)| (spanned(key), spanned(value))).collect(),
            depends_on: self.depends_on.iter().map(spanned).collect(),
            gate,
            rework: self.rework.as_ref().map(spanned),
            harness: self.harness.as_ref().map(spanned),
            timeout,
            max_attempts,
            expects: self.expects.as_ref().map(|expects| Expects {
                files: expects.files.iter().map(spanned).collect(),
                verdict: expects.verdict.as_ref().map(spanned),
            }),
        })
    }
}

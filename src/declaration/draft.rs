//! A draft: a declaration as far as it could be read, with its problems. The rules check it.

use super::model::{Action, Declaration, Expects, Gate, Input, InputKind, Pipeline, Spanned, Stage};
use super::path::Path;
use super::scalar::Core;
use super::yaml::{NodeId, Tree};
use crate::condition::{ConditionError, Expr};
use crate::source::Span;
use std::time::Duration;

/// The position of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Its node; for an alias, the aliased node.
    pub node: NodeId,
    /// The outermost alias that leads to it.
    pub alias: Option<Span>,
    /// The alias that leads to the mapping or list around it.
    pub outer: Option<Span>,
    /// Its key; for a list item, the key of the list.
    pub key: Span,
    /// The path to it, for example `stages[2].gate`.
    pub path: Path,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Its value with escapes resolved; a number or bool as written.
    pub value: String,
    /// What it is.
    pub core: Core,
    pub slot: Slot,
}

/// The keys for an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionKey {
    /// `agent`
    Agent,
    /// `skill`
    Skill,
    /// `pipeline`
    Pipeline,
}

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
    /// Set if `inputs` could not be read completely: an unknown name may be one of the unread inputs.
    pub inputs_unsure: bool,
    /// `stages`
    pub stages: Vec<DraftStage>,
    /// The list of stages, if it is one.
    pub stages_slot: Option<Slot>,
    /// Set if `stages` could not be read completely.
    pub stages_unsure: bool,
}

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
    /// `enum`, if it is a list (possibly empty)
    pub values: Option<(Vec<Text>, Slot)>,
}

#[derive(Clone, Debug)]
pub struct DraftStage {
    /// The item.
    pub slot: Slot,
    /// `name`
    pub name: Option<Text>,
    /// `agent`, `skill` and `pipeline`, in the order of the text
    pub actions: Vec<(ActionKey, Text)>,
    /// Whether the item contains an action or a gate that could not be read.
    pub unsure: bool,
    /// `description`
    pub description: Option<Text>,
    /// `when`
    pub when: Option<Text>,
    /// `when`, parsed
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
    /// Whether it has any known key.
    pub given: bool,
}

/// Parses the name of a gate.
pub fn gate(text: &str) -> Option<Gate> {
    match text {
        "human-approval" => Some(Gate::HumanApproval),
        "auto" => Some(Gate::Auto),
        _ => None,
    }
}

/// Parses the name of a pipeline.
pub fn pipeline(text: &str) -> Option<Pipeline> {
    matches!(text, "standard-8-phase" | "standard").then_some(Pipeline::Standard8Phase)
}

/// Maximum timeout of a stage.
const MAX_TIMEOUT: Duration = Duration::from_secs(30 * 24 * 3600);

/// Parses a time: numbers with `h`, `m` and `s` in this order, each at most once; more than zero and at most 30 days.
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
    /// Builds the typed model. None if the draft has a problem that a rule should have reported.
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

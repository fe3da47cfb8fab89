//! All places where inputs and stages are named: their declaration and every use.

use crate::check::Checked;
use crate::declaration::draft::{DraftStage, Text};
use crate::declaration::scalar_spans::Places;
use crate::declaration::yaml::{Kind, NodeId, Style};
use crate::source::Span;
use crate::template::{self, Variable};

/// A named element of a declaration.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Entity {
    /// An input.
    Input(String),
    /// A stage.
    Stage(String),
}

impl Entity {
    pub fn name(&self) -> &str {
        match self {
            Entity::Input(name) | Entity::Stage(name) => name,
        }
    }
}

/// A place where an entity is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// What is named.
    pub entity: Entity,
    /// The name alone, without quotes or braces.
    pub span: Span,
    /// Whether this is the entity's own `name` key.
    pub declares: bool,
    /// Whether the name is an entire unquoted value: another name may need quotes there.
    pub bare: bool,
}

/// Every occurrence, in the order of the text. A value used through an alias counts once, at the anchor.
pub fn occurrences(checked: &Checked) -> Vec<Occurrence> {
    let mut all = Collect { checked, found: Vec::new(), places: None };
    for input in &checked.draft.inputs {
        if let Some(name) = &input.name {
            all.whole(name, Entity::Input(name.value.clone()), true);
        }
    }
    for stage in &checked.draft.stages {
        all.stage(stage);
    }
    let mut found = all.found;
    found.sort_by_key(|occurrence| occurrence.span);
    found.dedup();
    found
}

struct Collect<'a> {
    checked: &'a Checked,
    found: Vec<Occurrence>,
    /// The scalar spans of the text that was used last.
    places: Option<(NodeId, Places)>,
}

impl Collect<'_> {
    fn part(&mut self, text: &Text, part: Span, entity: Entity, declares: bool) {
        let (node, tree) = (text.slot.node, &self.checked.tree);
        if self.places.as_ref().is_none_or(|(last, _)| *last != node) {
            self.places = Some((node, tree.places(node)));
        }
        let Some((_, places)) = &self.places else { return };
        let span = tree.place(node, places, part);
        let plain = matches!(tree.node(node).kind, Kind::Scalar { style: Style::Plain, .. });
        let bare = plain && part == Span::new(0, text.value.len());
        self.found.push(Occurrence { entity, span, declares, bare });
    }

    fn whole(&mut self, text: &Text, entity: Entity, declares: bool) {
        self.part(text, Span::new(0, text.value.len()), entity, declares);
    }

    fn stage(&mut self, stage: &DraftStage) {
        if let Some(name) = &stage.name {
            self.whole(name, Entity::Stage(name.value.clone()), true);
        }
        for text in stage.depends_on.iter().chain(&stage.rework) {
            self.whole(text, Entity::Stage(text.value.clone()), false);
        }
        if let (Some(text), Some(Ok(expr))) = (&stage.when, &stage.condition) {
            for (name, span) in expr.variables() {
                let inner = &text.value[span.start..span.end];
                let start = span.start + inner.find(name).unwrap_or_default();
                self.part(text, Span::new(start, start + name.len()), Entity::Input(name.to_owned()), false);
            }
        }
        let expects = stage.expects.iter().flat_map(|expects| expects.files.iter().chain(&expects.verdict));
        for text in stage.description.iter().chain(stage.inputs.iter().map(|(_, value)| value)).chain(expects)
        {
            for place in template::parse(&text.value).0 {
                let entity = match place.variable {
                    Variable::Input(name) => Entity::Input(name),
                    Variable::StageResult(name) => Entity::Stage(name),
                };
                self.part(text, place.name, entity, false);
            }
        }
    }
}

pub fn at(checked: &Checked, offset: usize) -> Option<Occurrence> {
    occurrences(checked).into_iter().find(|occurrence| occurrence.span.touches(offset))
}

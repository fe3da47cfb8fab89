//! Decodes the tree into a draft and reports every problem of its shape, without stopping at the first.

use super::draft::{ActionKey, Draft, DraftExpects, DraftInput, DraftStage, Slot, Text};
use super::fields::Fields;
use super::keys::{Level, Takes, fits};
use super::mapping::{self, child};
use super::path::Path;
use super::scalar::Core;
use super::sink::Sink;
use super::unknown;
use super::yaml::{Kind, NodeId, Style};
use super::yaml_writer;
use super::{missing, type_mismatch};
use crate::condition;
use crate::diagnostic::Code;
use crate::source::{Source, Span};

/// Maximum number of inputs and of stages.
pub const MAX_INPUTS: usize = 1_000;
/// See [`MAX_INPUTS`].
pub const MAX_STAGES: usize = 10_000;

/// Decodes the document. None if there is no mapping to decode.
pub fn decode(sink: &mut Sink<'_>) -> Option<Draft> {
    let (node, alias) = sink.tree.resolve(sink.tree.root()?);
    let alias = alias.map(|alias| sink.tree.node(alias).span);
    let start = sink.tree.node(node).span.start;
    let slot = Slot { node, alias, outer: None, key: Span::new(start, start), path: Path::TOP };
    Some(Decoder { sink }.top(&slot))
}

/// The dash or comma before a missing item.
fn dash(source: &Source, span: Span) -> Option<Span> {
    let before = source.slice(Span::new(0, span.end)).trim_end();
    let sign = span.start == span.end && before.ends_with(['-', ',', '[']);
    sign.then(|| Span::new(before.len() - 1, before.len()))
}

struct Decoder<'a, 's> {
    sink: &'s mut Sink<'a>,
}

impl Decoder<'_, '_> {
    fn top(&mut self, slot: &Slot) -> Draft {
        let mut draft = Draft::default();
        let Some(fields) = self.mapping(
            slot,
            Level::Top,
            "a superpower must be a mapping with name, description, version and stages",
        ) else {
            return draft;
        };
        missing::report(self.sink, &fields, Level::Top);
        draft.name = self.text(&fields, "name");
        draft.description = self.text(&fields, "description");
        draft.version = self.text(&fields, "version");
        draft.tags = self.texts(&fields, "tags");
        if let Some((items, list)) = self.list(&fields, "inputs") {
            if items.len() > MAX_INPUTS {
                self.sink.at_key(
                    Code::Limit,
                    &list,
                    format!("too many inputs: {} (at most {MAX_INPUTS})", items.len()),
                );
            }
            draft.inputs = items.iter().take(MAX_INPUTS).filter_map(|item| self.input(item)).collect();
            draft.inputs_unsure = draft.inputs.len() < items.len()
                || draft.inputs.iter().any(|input| input.name.is_none())
                || self.sink.tree.is_unfinished(list.node);
        } else {
            draft.inputs_unsure =
                fields.get("inputs").is_some_and(|slot| self.sink.tree.core(slot.node) != Some(Core::Null));
        }
        if let Some((items, list)) = self.list(&fields, "stages") {
            if items.len() > MAX_STAGES {
                self.sink.at_key(
                    Code::Limit,
                    &list,
                    format!("too many stages: {} (at most {MAX_STAGES})", items.len()),
                );
            }
            draft.stages = items.iter().take(MAX_STAGES).filter_map(|item| self.stage(item)).collect();
            draft.stages_unsure = draft.stages.len() < items.len() || self.sink.tree.is_unfinished(list.node);
            draft.stages_slot = Some(list);
        } else if fields.get("stages").is_some() {
            draft.stages_unsure = true;
        }
        let lacking = fields.unsure || self.sink.may_lack_keys(slot.node);
        let blanked = |name: &str, sink: &Sink<'_>| {
            fields.get(name).is_some_and(|slot| sink.is_blanked(sink.tree.node(slot.node).span))
        };
        draft.inputs_unsure |= lacking || blanked("inputs", self.sink);
        draft.stages_unsure |= lacking || blanked("stages", self.sink);
        draft
    }

    fn input(&mut self, slot: &Slot) -> Option<DraftInput> {
        let fields = self.mapping(slot, Level::Input, "an input must be a mapping with at least a name")?;
        missing::report(self.sink, &fields, Level::Input);
        let required = fields.get("required").copied().and_then(|slot| {
            let text = self.scalar(&slot, Takes::Bool, "required")?;
            matches!(text.core, Core::Bool(_)).then(|| (text.core == Core::Bool(true), slot))
        });
        let values = self.list(&fields, "enum").map(|(items, list)| {
            let texts = items.iter().filter_map(|item| self.scalar(item, Takes::Prose, "enum")).collect();
            (texts, list)
        });
        Some(DraftInput {
            name: self.text(&fields, "name"),
            kind: self.text(&fields, "type"),
            required,
            description: self.text(&fields, "description"),
            default: self.text(&fields, "default"),
            values,
            slot: fields.slot,
        })
    }

    fn stage(&mut self, slot: &Slot) -> Option<DraftStage> {
        let fields =
            self.mapping(slot, Level::Stage, "a stage must be a mapping with an action or a gate")?;
        let mut actions = Vec::new();
        let mut unsure = fields.unsure || self.sink.may_lack_keys(slot.node);
        for (key, _) in &fields.entries {
            let action = match key.name {
                "agent" => ActionKey::Agent,
                "skill" => ActionKey::Skill,
                "pipeline" => ActionKey::Pipeline,
                _ => continue,
            };
            match self.text(&fields, key.name) {
                Some(text) => actions.push((action, text)),
                None => unsure = true,
            }
        }
        let gate = self.text(&fields, "gate");
        let when = self.text(&fields, "when");
        unsure |= gate.is_none() && fields.get("gate").is_some();
        Some(DraftStage {
            name: self.text(&fields, "name"),
            actions,
            unsure,
            description: self.text(&fields, "description"),
            condition: when.as_ref().map(|text| condition::parse(&text.value)),
            when,
            inputs: self.values(&fields, "inputs"),
            depends_on: self.texts(&fields, "depends_on"),
            gate,
            rework: self.text(&fields, "rework"),
            harness: self.text(&fields, "harness"),
            timeout: self.text(&fields, "timeout"),
            max_attempts: self.text(&fields, "max_attempts"),
            expects: fields.get("expects").copied().and_then(|slot| self.expects(&slot)),
            slot: fields.slot,
        })
    }

    fn expects(&mut self, slot: &Slot) -> Option<DraftExpects> {
        if self.sink.tree.core(slot.node) == Some(Core::Null) {
            return None;
        }
        let fields =
            self.mapping(slot, Level::Expects, "\"expects\" must be a mapping with files or a verdict")?;
        Some(DraftExpects {
            given: !fields.entries.is_empty() || fields.unsure,
            files: self.texts(&fields, "files"),
            verdict: self.text(&fields, "verdict"),
            slot: fields.slot,
        })
    }

    fn mapping(&mut self, slot: &Slot, level: Level, message: &str) -> Option<Fields> {
        let found = mapping::read(self.sink, slot, level);
        if found.is_none() && !self.is_lost(slot.node) {
            let called = self.called(slot.node);
            let colon = type_mismatch::missing_colon(self.sink, slot, level);
            let report = self.sink.at(Code::WrongType, slot, format!("{message}, not {called}"));
            if let Some((title, edit)) = colon {
                report.edits(title, vec![edit]);
            }
        }
        found
    }

    /// Decodes a scalar field as the table says. A null counts as not given if the field is optional.
    fn text(&mut self, fields: &Fields, name: &str) -> Option<Text> {
        let (key, slot) = fields.entries.iter().find(|(key, _)| key.name == name)?;
        let must = key.required || matches!(name, "agent" | "skill" | "pipeline" | "gate" | "rework");
        if self.sink.tree.core(slot.node) == Some(Core::Null) && !must {
            return None;
        }
        self.scalar(slot, key.takes, name)
    }

    fn scalar(&mut self, slot: &Slot, takes: Takes, name: &str) -> Option<Text> {
        let tree = self.sink.tree;
        let node = tree.node(slot.node);
        let Kind::Scalar { text, style } = &node.kind else {
            if !self.is_lost(slot.node) {
                let message =
                    format!("\"{name}\" must be {}, not {}", takes.called(), self.called(slot.node));
                let written = self.sink.source.slice(node.span);
                let report = self.sink.at(Code::WrongType, slot, message);
                if matches!(node.kind, Kind::Mapping(_)) && !node.flow && !written.contains('\n') {
                    report.fix("put it in quotes", yaml_writer::quoted(written));
                }
            }
            return None;
        };
        type_mismatch::warn_of_tag(self.sink, slot, takes);
        let core = tree.core(slot.node).unwrap_or(Core::Text);
        if core == Core::Null {
            if self.sink.is_blanked(Span::new(slot.key.end, slot.key.end.max(node.span.start))) {
                return None;
            }
            self.sink.at(
                Code::WrongType,
                slot,
                format!("\"{name}\" is empty: it must be {}", takes.called()),
            );
            return None;
        }
        let found = Text { value: text.clone(), core, slot: *slot };
        if !fits(takes, core) {
            return type_mismatch::report(self.sink, found, takes, name);
        }
        // A default is checked against its input's type, and keys that take fixed words report other types themselves.
        let free = matches!(takes, Takes::Prose | Takes::Value | Takes::Name | Takes::Agent | Takes::Skill);
        if *style == Style::Plain && free && name != "default" {
            type_mismatch::warn_of_other_reading(self.sink, &found);
        }
        Some(found)
    }

    fn texts(&mut self, fields: &Fields, name: &str) -> Vec<Text> {
        let Some((items, list)) = self.list(fields, name) else { return Vec::new() };
        let takes = if name == "depends_on" { Takes::Name } else { Takes::Prose };
        // A stage's name cannot contain a comma, so it gets an error instead of a warning.
        if self.sink.tree.node(list.node).flow && takes != Takes::Name {
            items.iter().for_each(|item| type_mismatch::warn_of_comma(self.sink, item));
        }
        items.iter().filter_map(|item| self.scalar(item, takes, name)).collect()
    }

    /// Decodes a list, and returns its items with the list. A null counts as not given; `stages` has a rule of its own.
    fn list(&mut self, fields: &Fields, name: &str) -> Option<(Vec<Slot>, Slot)> {
        let (key, slot) = fields.entries.iter().find(|(key, _)| key.name == name)?;
        let tree = self.sink.tree;
        if let Kind::Sequence(items) = &tree.node(slot.node).kind {
            let item = |(index, &id): (usize, &NodeId)| {
                let key = dash(self.sink.source, tree.node(id).span).unwrap_or(slot.key);
                child(tree, slot, key, id, slot.path.item(index))
            };
            return Some((items.iter().enumerate().map(item).collect(), *slot));
        }
        let core = tree.core(slot.node);
        if core == Some(Core::Null) {
            return key.required.then(|| (Vec::new(), *slot));
        }
        if !self.is_lost(slot.node) {
            let message =
                format!("\"{name}\" must be {}, not {}", key.takes.called(), self.called(slot.node));
            let written = self.sink.source.slice(tree.node(slot.node).span);
            let dashes = type_mismatch::missing_dashes(self.sink, slot);
            let hint = if dashes.is_empty() { "" } else { ": a space is missing after \"-\"" };
            let report = self.sink.at(Code::WrongType, slot, format!("{message}{hint}"));
            if !dashes.is_empty() {
                report.edits("add the space", dashes);
                return None;
            }
            if core.is_some() && matches!(key.takes, Takes::Texts | Takes::Stages) && !written.contains('\n')
            {
                let is_plain = !written.starts_with(['"', '\'']);
                // A comma was meant to separate two items; other text that brackets would change is quoted.
                let quoted =
                    is_plain && !written.split(',').all(|part| yaml_writer::is_plain_safe(part.trim(), true));
                let one = if quoted { yaml_writer::quoted(written) } else { written.to_owned() };
                report.fix("make it a list", format!("[{one}]"));
            }
        }
        None
    }

    /// Decodes a mapping of names to single values.
    fn values(&mut self, fields: &Fields, name: &str) -> Vec<(Text, Text)> {
        let Some(slot) = fields.get(name) else { return Vec::new() };
        let tree = self.sink.tree;
        let Kind::Mapping(pairs) = &tree.node(slot.node).kind else {
            if tree.core(slot.node) != Some(Core::Null) && !self.is_lost(slot.node) {
                let message = format!(
                    "\"{name}\" must be a mapping of names to single values, not {}",
                    self.called(slot.node)
                );
                self.sink.at(Code::WrongType, slot, message);
            }
            return Vec::new();
        };
        let mut found = Vec::new();
        for (key, value, text) in mapping::unique(self.sink, slot, pairs) {
            let path = slot.path.key(key);
            let name = Text {
                value: text.to_owned(),
                core: Core::Text,
                slot: Slot {
                    outer: slot.alias,
                    node: tree.resolve(key).0,
                    alias: slot.alias,
                    key: tree.node(key).span,
                    path,
                },
            };
            let at = child(tree, slot, tree.node(key).span, value, path);
            if text == "<<" {
                unknown::merge(self.sink, &at, value);
            } else if tree.core(at.node) == Some(Core::Null) {
                // A null is the empty text.
                found.push((name, Text { value: String::new(), core: Core::Null, slot: at }));
            } else if let Some(value) = self.scalar(&at, Takes::Value, text) {
                found.push((name, value));
            }
        }
        found
    }

    fn is_lost(&self, node: NodeId) -> bool {
        matches!(self.sink.tree.node(node).kind, Kind::Alias(_))
    }

    fn called(&self, node: NodeId) -> &'static str {
        match &self.sink.tree.node(node).kind {
            Kind::Sequence(_) => "a list",
            Kind::Mapping(_) => "a mapping",
            Kind::Scalar { .. } => self.sink.tree.core(node).map_or("a text", Core::called),
            Kind::Alias(_) => "an alias",
        }
    }
}

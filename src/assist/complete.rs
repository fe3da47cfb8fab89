//! Completion. It reads the same tables as the checker.

use super::answers::{Completion, Kind};
use super::complete_text::{condition, template};
use super::context::{self, Context, Place, Value};
use super::flow;
use super::hover::{input_text, key_text, stage_text, worker_text};
use super::offer::{Offer, first_line, named, values_of};
use super::project::{Project, Worker};
use crate::check::Checked;
use crate::declaration::draft::DraftInput;
use crate::declaration::keys::{HARNESSES, Key, Level, Takes};
use crate::declaration::line::Line;
use crate::declaration::yaml_writer::{inside, plain_or_quoted};

/// All completions at `offset`, most likely first.
pub fn complete(checked: &Checked, offset: usize, project: &Project) -> Vec<Completion> {
    let text = checked.source.text();
    let Some(context) = context::at(text, offset) else { return Vec::new() };
    let line = Line::at(text, offset);
    let offset = offset.clamp(line.start, line.end);
    let mut offer = Offer { checked, project, text, line, offset, found: Vec::new() };
    match &context.place {
        Place::Key(level) => offer.keys(*level, &context),
        Place::InputKey => offer.input_keys(&context),
        Place::Value(value) => offer.value(value),
    }
    offer.found
}

impl Offer<'_> {
    fn keys(&mut self, level: Level, context: &Context) {
        let bracketed = flow::siblings(self.text, context.from, self.offset);
        let flow = bracketed.is_some();
        let new = !flow && matches!(level, Level::Input | Level::Stage) && self.begins_item(context.column);
        let present =
            if new { Vec::new() } else { bracketed.unwrap_or_else(|| self.siblings(context.column)) };
        let acts = |name: &str| matches!(name, "agent" | "skill" | "pipeline");
        let acting = present.iter().any(|name| acts(name));
        let rest = &self.text[self.offset..self.line.end];
        let after = rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_' || c == '-');
        for key in level.keys() {
            if present.iter().any(|name| name == key.name) || (acting && acts(key.name)) {
                continue;
            }
            let insert = if after.starts_with(':') {
                key.name.to_owned()
            } else if flow {
                format!("{}: ", key.name)
            } else if new {
                format!("- {}", entry(key, context.column + 2))
            } else {
                entry(key, context.column)
            };
            let detail = if key.required { "required" } else { "" };
            self.word(key.name, Kind::Key, detail.to_owned(), key_text(key), insert);
        }
    }

    /// Whether the text in this column starts an item of a list and lacks its dash.
    fn begins_item(&self, column: usize) -> bool {
        if self.line.inner > self.line.indented {
            return false;
        }
        let mut at = self.line.clone();
        while let Some(before) = at.before(self.text) {
            let (indent, dash) = (before.indented - before.start, before.inner > before.indented);
            if indent <= column {
                // Below a dash, the next item has the same column; below the list's key, the first item is indented.
                return if dash { indent == column } else { indent < column && before.value.is_none() };
            }
            at = before;
        }
        false
    }

    /// The keys of the mapping that contains the line.
    fn siblings(&self, column: usize) -> Vec<String> {
        let key = |line: &Line| {
            line.key.filter(|_| line.column() == column).map(|(start, end)| self.text[start..end].to_owned())
        };
        let starts_item = |line: &Line| line.inner > line.indented && line.column() == column;
        let mut found = Vec::new();
        let mut at = self.line.clone();
        while !starts_item(&at) {
            let Some(before) = at.before(self.text).filter(|before| before.column() >= column) else { break };
            found.extend(key(&before));
            at = before;
        }
        let mut at = self.line.clone();
        while let Some(after) =
            at.after(self.text).filter(|after| after.column() >= column && !starts_item(after))
        {
            found.extend(key(&after));
            at = after;
        }
        found
    }

    fn input_keys(&mut self, context: &Context) {
        let bracketed = flow::siblings(self.text, context.from, self.offset);
        let present = bracketed.unwrap_or_else(|| self.siblings(context.column));
        for (name, input) in named(&self.checked.draft.inputs) {
            if present.iter().any(|known| known == name) {
                continue;
            }
            let insert = format!("{name}: \"{{{{{name}}}}}\"");
            self.word(name, Kind::Input, String::new(), input_text(input), insert);
        }
    }

    fn value(&mut self, value: &Value) {
        let Some(key) = value.level.key(&value.key) else { return };
        let rendered = value.level == Level::Expects
            || value.level == Level::Stage
                && matches!(key.takes, Takes::Prose | Takes::Values | Takes::Condition);
        if rendered && template(self, value, key.takes == Takes::Condition) {
            return;
        }
        match key.takes {
            Takes::Condition => condition(self, value),
            Takes::Word(words) => self.words(words),
            Takes::Bool => self.words(&[("true", ""), ("false", "")]),
            Takes::Duration => self.words(&[("5m", ""), ("30m", ""), ("1h", "")]),
            Takes::Count => self.words(&[("1", "no retry"), ("3", "the default")]),
            Takes::Version if !value.quoted => {
                self.word("1.0.0", Kind::Value, String::new(), String::new(), "\"1.0.0\"".to_owned());
            }
            Takes::Agent => self.workers("agent", &self.project.agents, value),
            Takes::Skill => self.workers("skill", &self.project.skills, value),
            Takes::Harness => {
                self.words(HARNESSES);
                for name in &self.project.harnesses {
                    if self.found.iter().all(|found| found.label != *name) {
                        self.word(name, Kind::Word, String::new(), String::new(), written(value, name));
                    }
                }
            }
            Takes::Stage => self.stages(true, false, value),
            Takes::Stages => self.stages(false, !value.item, value),
            Takes::Value => self.default(value),
            Takes::Values if value.before.is_empty() => self.variables(value.quoted),
            Takes::Name if value.level == Level::Top => {
                let stem = self.project.stem.clone().unwrap_or_default();
                if !stem.is_empty() {
                    self.word(
                        &stem,
                        Kind::Value,
                        "the file's name".to_owned(),
                        String::new(),
                        written(value, &stem),
                    );
                }
            }
            Takes::Name if value.level == Level::Expects => self.words(&[("PASS", "")]),
            _ => {}
        }
    }

    fn words(&mut self, words: &[(&str, &str)]) {
        for (word, help) in words {
            self.word(word, Kind::Word, String::new(), (*help).to_owned(), (*word).to_owned());
        }
    }

    fn workers(&mut self, what: &str, workers: &[Worker], value: &Value) {
        let kind = if what == "agent" { Kind::Agent } else { Kind::Skill };
        for worker in workers {
            let detail = first_line(&worker.description);
            self.word(&worker.name, kind, detail, worker_text(what, worker), written(value, &worker.name));
        }
    }

    fn stages(&mut self, only_earlier: bool, in_brackets: bool, value: &Value) {
        let own = self.own_stage();
        for (at, stage) in self.checked.draft.stages.iter().enumerate() {
            let Some(name) = stage.name.as_ref().filter(|_| Some(at) != own) else { continue };
            if only_earlier && own.is_some_and(|own| at > own) {
                continue;
            }
            let detail = stage.description.as_ref().map_or(String::new(), |text| first_line(&text.value));
            let written = written(value, &name.value);
            let insert = if in_brackets { format!("[{written}]") } else { written };
            self.word(&name.value, Kind::Stage, detail, stage_text(at, stage), insert);
        }
    }

    /// All inputs of the run, as complete values.
    fn variables(&mut self, quoted: bool) {
        for (name, input) in named(&self.checked.draft.inputs) {
            let variable = format!("{{{{{name}}}}}");
            let insert = if quoted { variable.clone() } else { format!("\"{variable}\"") };
            self.word(&variable, Kind::Input, String::new(), input_text(input), insert);
        }
    }

    /// The values that are valid as the default of the edited input.
    fn default(&mut self, place: &Value) {
        let inputs = &self.checked.draft.inputs;
        let starts = |input: &&DraftInput| self.checked.tree.node(input.slot.node).span.start <= self.offset;
        let Some(input) = inputs.iter().rev().find(starts) else { return };
        for value in values_of(input) {
            self.word(&value, Kind::Value, String::new(), String::new(), plain_or_word(input, place, &value));
        }
    }
}

/// Formats a text for a position: inside the existing quotes, or with its own quotes if it needs some.
fn written(place: &Value, text: &str) -> String {
    match place.sign {
        Some(sign) => inside(text, sign).unwrap_or_else(|| text.to_owned()),
        None if place.quoted => text.to_owned(),
        None => plain_or_quoted(text),
    }
}

/// A bool stays unquoted; a text that YAML would read as another type is quoted.
fn plain_or_word(input: &DraftInput, place: &Value, value: &str) -> String {
    let bool = input.kind.as_ref().is_some_and(|kind| kind.value == "bool");
    if bool { value.to_owned() } else { written(place, value) }
}

/// A key, followed by the text that always comes after it.
fn entry(key: &Key, column: usize) -> String {
    let indent = " ".repeat(column + 2);
    match key.takes {
        Takes::List(Level::Input) => format!("{}:\n{indent}- name: ", key.name),
        Takes::List(_) => format!("{}:\n{indent}- ", key.name),
        Takes::Mapping(_) | Takes::Values => format!("{}:\n{indent}", key.name),
        _ => format!("{}: ", key.name),
    }
}

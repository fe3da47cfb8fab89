//! Permissions and questions from Claude Code's pipe.

use super::input::send;
use super::wire::{Line, Request};
use crate::harness::allowed::{self, DENIED, UNATTENDED};
use crate::harness::end_text::{note, questions};
use crate::harness::{Actions, Answer, Question, Signal, tool};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Open requests, and how earlier ones were answered.
pub struct Permissions {
    root: PathBuf,
    interactive: bool,
    open: BTreeMap<String, Asked>,
    /// The run, to look up what is allowed for all of it.
    run_id: String,
    /// Calls that the user denied; these are not listed as refusals.
    denied: BTreeSet<String>,
    /// How to allow a refused call, by call id.
    hints: BTreeMap<String, String>,
    /// Calls that were refused because nobody answered, by call id.
    refused: BTreeMap<String, String>,
}

struct Asked {
    tool: String,
    input: Value,
    call: String,
    title: String,
}

impl Permissions {
    pub fn new(root: PathBuf, run_id: &str, interactive: bool) -> Self {
        let (open, hints, refused) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { root, interactive, open, run_id: run_id.to_owned(), denied: BTreeSet::new(), hints, refused }
    }

    /// Whether a request waits for an answer.
    pub fn waiting(&self) -> bool {
        !self.open.is_empty()
    }

    /// Handles a request. Returns the questions of the question tool, which need a person.
    pub fn asked(&mut self, line: &Line<'_>, to: &mut Actions) -> Option<String> {
        let (id, Some(request)) = (line.request_id.str(), line.request.get()) else { return None };
        if request.subtype.str() != "can_use_tool" {
            let error = format!("{} is not supported", request.subtype.str());
            let response = json!({"subtype": "error", "request_id": id, "error": error});
            send(to, &json!({"type": "control_response", "response": response}));
            return None;
        }
        let (tool, input) = (request.tool_name.str(), &request.input);
        if tool == "AskUserQuestion" {
            deny(id, "The user will answer later.", to);
            self.denied.insert(request.tool_use_id.str().to_owned());
            return Some(questions(input.get("questions").unwrap_or(input)));
        }
        let call = request.tool_use_id.str().to_owned();
        let title = tool::title(tool, input, &self.root);
        self.hints.insert(call.clone(), hint(request, &self.root));
        let asked = Asked { tool: tool.to_owned(), input: input.clone(), call, title };
        if allowed::is_allowed(&self.run_id, tool) {
            allow(id, &asked.input, to);
        } else if self.interactive {
            let question = Question {
                id: id.to_owned(),
                tool: asked.tool.clone(),
                input: asked.input.clone(),
                title: asked.title.clone(),
            };
            to.signals.push(Signal::Asked(question));
            self.open.insert(id.to_owned(), asked);
        } else {
            self.refuse(id, &asked, UNATTENDED, to);
        }
        None
    }

    /// Removes a request that Claude Code has withdrawn.
    pub fn withdrawn(&mut self, id: &str, to: &mut Actions) {
        if self.open.remove(id).is_some() {
            to.signals.push(Signal::Withdrawn(id.to_owned()));
        }
    }

    /// Sends the answer to an open request.
    pub fn answer(&mut self, id: &str, answer: &Answer, to: &mut Actions) {
        let Some(asked) = self.open.remove(id) else { return };
        match answer {
            Answer::Once => allow(id, &asked.input, to),
            Answer::Run => {
                allow(id, &asked.input, to);
                let waiting = std::mem::take(&mut self.open);
                for (other, waits) in waiting {
                    // The answer also covers open requests for the same tool.
                    if waits.tool == asked.tool {
                        allow(&other, &waits.input, to);
                        to.signals.push(Signal::Withdrawn(other));
                    } else {
                        self.open.insert(other, waits);
                    }
                }
                allowed::allow(&self.run_id, &asked.tool);
            }
            Answer::Deny { reason } => {
                let reason = if reason.trim().is_empty() { DENIED } else { reason };
                to.signals.push(note(format!("denied: {}", asked.title)));
                deny(id, reason, to);
                self.denied.insert(asked.call);
            }
            Answer::Refuse { why } => self.refuse(id, &asked, why, to),
        }
    }

    /// Refused calls with how to allow them: ours, and those that Claude Code reports (`told`).
    pub fn refusals(&self, told: &BTreeMap<String, String>) -> Vec<String> {
        let all: BTreeMap<_, _> = told.iter().chain(&self.refused).collect();
        let line = |(call, title): (&String, &String)| {
            let hint = self.hints.get(call).map_or_else(String::new, |hint| format!("; to allow it: {hint}"));
            format!("{title}{hint}")
        };
        let by_machine = all.into_iter().filter(|(call, _)| !self.denied.contains(*call));
        let mut lines: Vec<String> = by_machine.map(line).collect();
        lines.dedup();
        lines
    }

    fn refuse(&mut self, id: &str, asked: &Asked, why: &str, to: &mut Actions) {
        to.signals.push(note(format!("refused, because nobody answered: {}", asked.title)));
        deny(id, why, to);
        self.refused.insert(asked.call.clone(), asked.title.clone());
    }
}

fn allow(id: &str, input: &Value, to: &mut Actions) {
    respond(id, &json!({"behavior": "allow", "updatedInput": input}), to);
}

fn deny(id: &str, message: &str, to: &mut Actions) {
    respond(id, &json!({"behavior": "deny", "message": message}), to);
}

fn respond(id: &str, response: &Value, to: &mut Actions) {
    let response = json!({"subtype": "success", "request_id": id, "response": response});
    send(to, &json!({"type": "control_response", "response": response}));
}

/// The configuration that would allow the request, from Claude Code's suggestions.
fn hint(request: &Request<'_>, root: &std::path::Path) -> String {
    let suggestions = request.permission_suggestions.as_array().map(Vec::as_slice).unwrap_or_default();
    let list =
        |value: &Value, key: &str| value.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let mut args: Vec<String> = Vec::new();
    let rule = |rule: &Value| {
        let tool = rule.get("toolName")?.as_str()?;
        Some(
            rule.get("ruleContent")
                .and_then(Value::as_str)
                .map_or(tool.to_owned(), |what| format!("{tool}({what})")),
        )
    };
    let rules: Vec<String> =
        suggestions.iter().flat_map(|s| list(s, "rules")).filter_map(|r| rule(&r)).collect();
    let rules = if rules.is_empty() { vec![request.tool_name.str().to_owned()] } else { rules };
    args.push("--allowedTools".to_owned());
    args.extend(rules);
    let places = suggestions.iter().flat_map(|s| list(s, "directories"));
    for place in
        places.filter_map(|d| d.as_str().map(ToOwned::to_owned)).filter(|d| std::path::Path::new(d) != root)
    {
        args.push(format!("--add-dir={place}"));
    }
    let quoted: Vec<String> = args.iter().map(|arg| format!("{arg:?}")).collect();
    format!("harnesses.claude.args = {{ {} }}", quoted.join(", "))
}

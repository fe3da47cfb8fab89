//! Permissions and questions from Claude Code's pipe.

use super::input::send;
use super::names::NAME;
use super::wire::{Line, Request};
use crate::harness::Calls;
use crate::harness::allowed::{Allowed, DENIED, UNATTENDED, is_same};
use crate::harness::end_text::{note, questions};
use crate::harness::{Actions, Answer, Launch, Question, Signal, tool};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Bytes of how to allow something.
const HINT: usize = 4096;

/// What was asked, and what was answered. An agent that asks without end is not remembered without end.
pub struct Permissions {
    root: PathBuf,
    interactive: bool,
    open: BTreeMap<String, Asked>,
    /// What is not asked again.
    allowed: Allowed,
    /// Calls that a human denied: no machine's refusal.
    denied: Calls<()>,
    /// How to allow a refused call, by its id.
    hints: Calls<String>,
    /// Refusals of ours, by the call's id.
    refused: Calls<String>,
}

struct Asked {
    tool: String,
    input: Value,
    call: String,
    title: String,
    /// What the tool proposes to be told, so that it does not ask for the like again, and that in words.
    rule: Option<(Value, String)>,
}

impl Permissions {
    /// None asked yet.
    pub fn new(launch: &Launch) -> Self {
        let (open, hints, refused, denied) = Default::default();
        let (root, interactive) = (launch.root.clone(), launch.interactive);
        let allowed = Allowed::to(launch, NAME);
        Self { root, interactive, open, allowed, denied, hints, refused }
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
            self.denied.open(request.tool_use_id.str(), ());
            return Some(questions(input.get("questions").unwrap_or(input)));
        }
        let call = request.tool_use_id.str().to_owned();
        let title = tool::title(tool, input, &self.root);
        let hint = hint(request, &self.root);
        // A longer one is no line to put into a configuration.
        if hint.len() <= HINT {
            self.hints.open(&call, hint);
        }
        let rule = proposed(request);
        let asked = Asked { tool: tool.to_owned(), input: input.clone(), call, title, rule };
        if self.allowed.has(tool, input) {
            allow(id, &asked.input, to);
        } else if self.interactive {
            let question = Question {
                id: id.to_owned(),
                tool: asked.tool.clone(),
                input: asked.input.clone(),
                title: asked.title.clone(),
                rule: asked.rule.as_ref().map(|(_, words)| words.clone()),
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
                    // Asked before this answer, and the same: it holds for them too.
                    if is_same(&waits.tool, &waits.input, (&asked.tool, &asked.input)) {
                        allow(&other, &waits.input, to);
                        to.signals.push(Signal::Withdrawn(other));
                    } else {
                        self.open.insert(other, waits);
                    }
                }
                self.allowed.add(&asked.tool, &asked.input);
            }
            Answer::Rule => match &asked.rule {
                Some((rule, _)) => {
                    let told = json!({"behavior": "allow", "updatedInput": asked.input, "updatedPermissions": [rule]});
                    respond(id, &told, to);
                }
                // What was not proposed was not shown either.
                None => allow(id, &asked.input, to),
            },
            Answer::Deny { reason } => {
                let reason = if reason.trim().is_empty() { DENIED } else { reason };
                to.signals.push(note(format!("denied: {}", asked.title)));
                deny(id, reason, to);
                self.denied.open(&asked.call, ());
            }
            Answer::Refuse { why } => self.refuse(id, &asked, why, to),
        }
    }

    /// What machines refused, with how to allow it: our own refusals, and those that the tool told of.
    pub fn refusals(&self, told: &Calls<String>) -> Vec<String> {
        let all: BTreeMap<_, _> = told.iter().chain(self.refused.iter()).collect();
        let line = |(call, title): (&str, &String)| {
            let hint = self.hints.get(call).map_or_else(String::new, |hint| format!("; to allow it: {hint}"));
            format!("{title}{hint}")
        };
        let by_machine = all.into_iter().filter(|(call, _)| self.denied.get(call).is_none());
        let mut lines: Vec<String> = by_machine.map(line).collect();
        lines.dedup();
        lines
    }

    fn refuse(&mut self, id: &str, asked: &Asked, why: &str, to: &mut Actions) {
        to.signals.push(note(format!("refused, because nobody answered: {}", asked.title)));
        deny(id, why, to);
        self.refused.open(&asked.call, asked.title.clone());
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

/// The rule by which the tool proposes to allow what it asks for, for its session only, and in words. A rule that is no
/// more than a tool's name allows whatever that tool can do, and is none.
fn proposed(request: &Request<'_>) -> Option<(Value, String)> {
    let suggestions = request.permission_suggestions.as_array()?;
    let text =
        |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let suggestion =
        suggestions.iter().find(|it| text(it, "type") == "addRules" && text(it, "behavior") == "allow")?;
    let rules = suggestion.get("rules")?.as_array()?;
    let mut words = Vec::new();
    for rule in rules {
        let (tool, what) = (text(rule, "toolName"), text(rule, "ruleContent"));
        if tool != request.tool_name.str()
            || what.chars().all(|c| c.is_whitespace() || matches!(c, '*' | ':'))
        {
            return None;
        }
        words.push(format!("{tool}({what})"));
    }
    let told = json!({"type": "addRules", "rules": rules, "behavior": "allow", "destination": "session"});
    (!words.is_empty()).then(|| (told, words.join(", ")))
}

/// The line of configuration that allows what is asked, as the tool suggests it.
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

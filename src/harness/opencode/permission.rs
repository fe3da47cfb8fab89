//! Permissions that OpenCode asks for.

use super::wire::Properties;
use crate::harness::allowed::{Allowed, DENIED, UNATTENDED, is_same};
use crate::harness::end_text::note;
use crate::harness::{Actions, Answer, Launch, Question, Request, Signal, Way, tool};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Refusals that are told of at the end.
const REFUSED: usize = 100;
/// Requests that are known again.
const ASKED: usize = 4096;
/// Longest title, in characters.
const TITLE: usize = 120;

/// Open requests, and how earlier ones were answered.
pub struct Permissions {
    root: PathBuf,
    /// What is not asked again.
    allowed: Allowed,
    interactive: bool,
    /// Whether everything is allowed.
    auto: bool,
    open: BTreeMap<String, Asked>,
    /// Ids of all requests so far, because a request may be reported again.
    asked: BTreeSet<String>,
    refused: Vec<String>,
    /// Whether something was denied in this turn; OpenCode may end the turn because of it.
    denied: bool,
}

struct Asked {
    kind: String,
    /// All that it says of what it wants to do.
    request: Value,
    title: String,
}

impl Permissions {
    /// None asked yet.
    pub fn new(launch: &Launch, auto: bool) -> Self {
        let (open, refused) = (BTreeMap::new(), Vec::new());
        Self {
            root: launch.root.clone(),
            allowed: Allowed::to(launch, super::names::NAME),
            interactive: launch.interactive,
            auto,
            open,
            asked: BTreeSet::new(),
            refused,
            denied: false,
        }
    }

    /// Whether a request waits for an answer.
    pub fn waiting(&self) -> bool {
        !self.open.is_empty()
    }

    /// Titles of requests that were refused because nobody answered.
    pub fn refused(&self) -> &[String] {
        &self.refused
    }

    /// Handles a request.
    pub fn asked(&mut self, event: &Properties<'_>, to: &mut Actions) {
        let (id, kind) = (event.id.str(), event.permission.str());
        if !crate::harness::is_name(id) || !self.asked.insert(id.to_owned()) {
            return;
        }
        if self.asked.len() > ASKED {
            // The oldest, by how OpenCode makes its ids.
            self.asked.pop_first();
        }
        let asked = Asked { kind: kind.to_owned(), request: exact(event), title: self.title(event) };
        if self.auto || self.allowed.has(kind, &asked.request) {
            reply(id, None, to);
        } else if self.interactive {
            let input = if event.metadata.as_object().is_some_and(|map| !map.is_empty()) {
                event.metadata.clone()
            } else {
                json!({"patterns": event.patterns})
            };
            let (tool, title) = (asked.kind.clone(), asked.title.clone());
            to.signals.push(Signal::Asked(Question { id: id.to_owned(), tool, input, title, rule: None }));
            self.open.insert(id.to_owned(), asked);
        } else {
            self.refuse(id, &asked, UNATTENDED, to);
        }
    }

    /// Removes a request that was answered elsewhere.
    pub fn replied(&mut self, id: &str, to: &mut Actions) {
        if self.open.remove(id).is_some() {
            to.signals.push(Signal::Withdrawn(id.to_owned()));
        }
    }

    /// Whether something was denied in the current turn.
    pub fn denied(&self) -> bool {
        self.denied
    }

    /// The turn has ended: withdraws the open requests.
    pub fn over(&mut self, to: &mut Actions) {
        self.denied = false;
        to.signals.extend(std::mem::take(&mut self.open).into_keys().map(Signal::Withdrawn));
    }

    /// Sends the answer to an open request.
    pub fn answer(&mut self, id: &str, answer: &Answer, to: &mut Actions) {
        let Some(asked) = self.open.remove(id) else { return };
        match answer {
            // It proposes no rule that ends with the run.
            Answer::Once | Answer::Rule => reply(id, None, to),
            Answer::Run => {
                // OpenCode's own "always" covers one pattern only and may outlive the run.
                reply(id, None, to);
                let same: Vec<String> = self
                    .open
                    .iter()
                    .filter(|(_, waits)| is_same(&waits.kind, &waits.request, (&asked.kind, &asked.request)))
                    .map(|(id, _)| id.clone())
                    .collect();
                for other in same {
                    reply(&other, None, to);
                    self.replied(&other, to);
                }
                self.allowed.add(&asked.kind, &asked.request);
            }
            Answer::Deny { reason } => {
                let reason = if reason.trim().is_empty() { DENIED } else { reason };
                to.signals.push(note(format!("denied: {}", asked.title)));
                self.denied = true;
                reply(id, Some(reason), to);
            }
            Answer::Refuse { why } => self.refuse(id, &asked, why, to),
        }
    }

    fn refuse(&mut self, id: &str, asked: &Asked, why: &str, to: &mut Actions) {
        to.signals.push(note(format!("refused, because nobody answered: {}", asked.title)));
        self.denied = true;
        reply(id, Some(why), to);
        if self.refused.len() < REFUSED && !self.refused.contains(&asked.title) {
            self.refused.push(asked.title.clone());
        }
    }

    /// The title in one line, such as `edit docs/a.md`.
    fn title(&self, event: &Properties<'_>) -> String {
        let text = |key: &str| event.metadata.get(key).and_then(Value::as_str);
        let about = match (text("filepath"), text("command").or_else(|| text("url"))) {
            (Some(path), _) => tool::relative(path, &self.root),
            (_, Some(text)) => {
                text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned()
            }
            _ => {
                let patterns = event.patterns.as_array().map(Vec::as_slice).unwrap_or_default();
                patterns.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
            }
        };
        let title = format!("{} {}", event.permission.str().replace('_', " "), about.trim());
        match title.char_indices().nth(TITLE) {
            Some((at, _)) => format!("{}…", &title[..at]),
            None => title.trim_end().to_owned(),
        }
    }
}

/// All that a request says of what it wants to do: its details, and the patterns that they fall under.
fn exact(event: &Properties<'_>) -> Value {
    let mut all = event.metadata.as_object().cloned().unwrap_or_default();
    all.insert("patterns".to_owned(), event.patterns.clone());
    Value::Object(all)
}

/// Allows a request, or denies it with a reason. Without a reason OpenCode would end the turn.
fn reply(id: &str, why_not: Option<&str>, to: &mut Actions) {
    let post = match why_not {
        None => json!({"reply": "once"}),
        Some(why) => json!({"reply": "reject", "message": why}),
    };
    let (name, path) = ("permission".to_owned(), format!("/permission/{id}/reply"));
    to.requests.push(Request { name, path, way: Way::Post(post) });
}

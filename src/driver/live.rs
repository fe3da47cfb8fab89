//! What an agent shows while it works. It is shown, and decides nothing.

use crate::harness::{Calls, Progress, TodoItem};
use crate::outcome::Usage;
use serde_json::{Value, json};

/// The newest of everything that the running agent told.
#[derive(Debug, Default)]
pub struct Live {
    stage: Option<usize>,
    todo: Vec<TodoItem>,
    /// Titles of open tool calls.
    tools: Calls<String>,
    tool: Option<String>,
    text: String,
    waiting: Option<String>,
    usage: Usage,
}

/// Bytes of text that are kept to show the last line of.
const TEXT: usize = 4 * 1024;

impl Live {
    /// A fresh page for a stage, by its index.
    pub fn begin(stage: usize) -> Self {
        Self { stage: Some(stage), ..Self::default() }
    }

    /// Takes something in; gives the files that it wrote.
    pub fn take(&mut self, progress: Progress) -> Vec<String> {
        self.waiting = None;
        match progress {
            Progress::Text { text } => {
                self.text.push_str(&text);
                if self.text.len() > 2 * TEXT {
                    self.text = crate::prompt::tail(&self.text, TEXT).to_owned();
                }
            }
            Progress::Tool { id, title, status, files, .. } => {
                self.tool = Some(title.clone());
                if status == "running" {
                    self.tools.open(&id, title);
                } else {
                    self.tools.close(&id);
                    return files;
                }
            }
            Progress::Todo { items } => self.todo = items,
            Progress::Usage { usage } => self.usage = usage,
            Progress::Waiting { text } => self.waiting = Some(text),
            Progress::Note { .. } => {}
        }
        Vec::new()
    }

    /// What the running agent has used so far.
    pub fn usage(&self) -> &Usage {
        &self.usage
    }

    /// As a snapshot's `live`; null where no agent works.
    pub fn view(&self) -> Value {
        let Some(stage) = self.stage else { return Value::Null };
        let tool = self.tools.newest().or(self.tool.as_ref());
        let line = self.text.lines().rev().map(str::trim).find(|line| !line.is_empty());
        json!({ "stage": stage + 1, "todo": self.todo, "tool": tool, "text": line, "waiting": self.waiting })
    }
}

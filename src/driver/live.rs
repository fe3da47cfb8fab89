//! What the running agent shows of its work. It is for display only and decides nothing.

use crate::harness::{Calls, Progress, TodoItem};
use crate::outcome::Usage;
use serde_json::{Value, json};

/// The latest information from the running agent.
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

/// Limit of the text that is kept in order to show its last line, in bytes.
const TEXT: usize = 4 * 1024;

impl Live {
    /// Starts over for a stage, given by its index.
    pub fn begin(stage: usize) -> Self {
        Self { stage: Some(stage), ..Self::default() }
    }

    /// Updates the information, and returns the files that the agent wrote.
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

    /// The snapshot's `live` value; null if no agent is running.
    pub fn view(&self) -> Value {
        let Some(stage) = self.stage else { return Value::Null };
        let tool = self.tools.newest().or(self.tool.as_ref());
        let line = self.text.lines().rev().map(str::trim).find(|line| !line.is_empty());
        json!({ "stage": stage + 1, "todo": self.todo, "tool": tool, "text": line, "waiting": self.waiting })
    }
}

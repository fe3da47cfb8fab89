//! A picture of a run, as sent to the editor.

use super::run_status::Standing;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

/// A picture of a run. It is serialized stage by stage while it is drawn, and shared by all receivers. A tree of
/// values for a long run would need ten times the memory.
#[derive(Debug)]
pub(super) struct Picture {
    /// The run's state.
    pub standing: Standing,
    /// The event that contains the picture.
    pub event: Arc<str>,
    /// Where the run begins in the event; it ends one byte before the event does.
    from: usize,
}

/// A named array in a picture.
pub(super) type List<'a> = (&'a str, &'a mut dyn Iterator<Item = Value>);

impl Default for Picture {
    fn default() -> Self {
        Self { standing: Standing::default(), event: " null ".into(), from: 1 }
    }
}

impl Picture {
    pub(super) fn is_drawn(&self) -> bool {
        self.event.starts_with('{')
    }

    pub(super) fn draw(root: &Path, standing: Standing, head: &Value, lists: [List; 2]) -> Self {
        let mut text = format!("{{\"type\":\"snapshot\",\"root\":{},\"run\":", json!(root));
        let from = text.len();
        text += &head.to_string();
        text.pop();
        for (name, list) in lists {
            let _ = write!(text, ",\"{name}\":[");
            for (at, item) in list.enumerate() {
                let comma = if at > 0 { "," } else { "" };
                let _ = write!(text, "{comma}{item}");
            }
            text.push(']');
        }
        text += "}}";
        Self { standing, event: text.into(), from }
    }

    /// A copy of the picture with one value changed after the drive ended.
    pub fn amended(&mut self, root: &Path, name: &str, value: Value) -> Arc<str> {
        let mut run: Value = serde_json::from_str(self.run()).unwrap_or_default();
        if run.is_object() {
            run[name] = value;
            let before = format!("{{\"type\":\"snapshot\",\"root\":{},\"run\":", json!(root));
            self.from = before.len();
            self.event = format!("{before}{run}}}").into();
        }
        self.event.clone()
    }

    pub fn run(&self) -> &str {
        &self.event[self.from..self.event.len() - 1]
    }
}

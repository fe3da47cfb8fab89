//! Why a verb was refused, and its exit status.

use serde_json::{Value, json};

/// The status of what failed otherwise.
pub const INTERNAL: u8 = 1;

/// Codes that are no refusals of the verb.
const FAULTS: [&str; 4] = ["bad-argument", "internal", "panic", "stopped"];

/// The lists in `data` that are worth showing, in the order of display.
const LISTS: [&str; 8] = ["lines", "inputs", "names", "looked", "differences", "files", "allowed", "tried"];

/// Maximum number of lines.
const MOST: usize = 20;

/// A refusal, as the engine words it.
#[derive(Clone, Debug)]
pub struct Refused {
    pub code: String,
    message: String,
    pub data: Value,
}

impl Refused {
    /// From the engine's answer.
    pub fn of(err: &Value) -> Self {
        let text = |key| err[key].as_str().unwrap_or_default().to_owned();
        Self { code: text("code"), message: text("message"), data: err["data"].clone() }
    }

    /// Of the command line itself.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new("usage", message)
    }

    pub fn internal(message: impl Into<String>) -> Self {
        Self::new("internal", message)
    }

    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), data: Value::Null }
    }

    /// The message, and the lists that came with it.
    pub fn text(&self) -> String {
        let mut lines = vec![self.message.clone()];
        let lists = LISTS.iter().filter_map(|key| self.data.get(key)?.as_array());
        for shown in lists.flatten().filter_map(one).filter(|shown| !self.message.contains(shown)) {
            lines.push(format!("  {shown}"));
            if lines.len() > MOST {
                lines.push("  …".into());
                break;
            }
        }
        if let Some(how) = answer(&self.code) {
            lines.push(format!("  {how}"));
        }
        lines.join("\n")
    }

    pub fn json(&self) -> Value {
        let mut err = json!({ "code": self.code, "message": self.message });
        if !self.data.is_null() {
            err["data"] = self.data.clone();
        }
        json!({ "err": err })
    }

    /// Resuming a finished run is not a mistake; for any other verb it is.
    pub fn status(&self, verb: &str) -> u8 {
        if self.code == "finished" && verb == "resume" {
            return u8::from(self.data["state"] != "complete");
        }
        if FAULTS.contains(&self.code.as_str()) { INTERNAL } else { crate::REFUSED }
    }
}

fn one(item: &Value) -> Option<String> {
    if let Some(text) = item.as_str() {
        return Some(text.to_owned());
    }
    if let Some(name) = item["name"].as_str() {
        let values: Vec<&str> =
            item["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        return Some(if values.is_empty() {
            name.to_owned()
        } else {
            format!("{name} ({})", values.join(", "))
        });
    }
    item["path"].as_str().map(str::to_owned)
}

/// The answer that can be given in advance to the question that the engine would ask.
fn answer(code: &str) -> Option<&'static str> {
    Some(match code {
        "changed-again" => "answer=go-on",
        "damaged-journal" => "answer=repair",
        "declaration-changed" => "answer=old or answer=new",
        "declaration-unusable" => "answer=old",
        "files-changed" => "answer=go-on or answer=look-again",
        "foreign-run" => "answer=adopt",
        _ => return None,
    })
}

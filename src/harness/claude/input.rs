//! Messages written to Claude Code's standard input.

use crate::harness::Actions;
use serde_json::{Value, json};

pub(super) fn user_message(text: &str) -> Value {
    json!({
        "type": "user", "message": {"role": "user", "content": text},
        "parent_tool_use_id": null, "session_id": "",
    })
}

pub(super) fn send(to: &mut Actions, message: &Value) {
    to.write.extend_from_slice(format!("{message}\n").as_bytes());
}

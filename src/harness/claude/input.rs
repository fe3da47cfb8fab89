//! What is written to the pipe of Claude Code.

use crate::harness::Actions;
use serde_json::{Value, json};

/// A word of the user.
pub(super) fn said(text: &str) -> Value {
    json!({
        "type": "user", "message": {"role": "user", "content": text},
        "parent_tool_use_id": null, "session_id": "",
    })
}

/// Writes a message to its pipe.
pub(super) fn send(to: &mut Actions, message: &Value) {
    to.write.extend_from_slice(format!("{message}\n").as_bytes());
}

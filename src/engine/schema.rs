//! The tables that the help page is made from, so that it cannot say something else than the code.

use crate::diagnostic::Code;
use serde_json::{Value, json};

/// Every diagnostic code with its severity, as `vim.diagnostic` counts it, and when it is reported.
pub fn schema() -> Value {
    let codes: Vec<Value> = Code::ALL
        .iter()
        .map(|code| {
            json!({ "code": code.as_str(), "severity": code.severity().number(), "help": code.help().trim() })
        })
        .collect();
    json!({ "codes": codes })
}

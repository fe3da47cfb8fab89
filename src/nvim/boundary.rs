//! Makes functions total: they accept any Lua value, never unwind, and return text.

use std::panic::{AssertUnwindSafe, catch_unwind};

use mlua::{Function, Lua, MultiValue, Result, Value};
use serde_json::json;

use super::panics;

/// JSON text, or the reason why there is none.
pub type Answer = std::result::Result<String, Refusal>;

/// Why a call failed: Lua sees `{"err":{"code":…,"message":…}}`.
pub struct Refusal {
    code: &'static str,
    message: String,
}

impl Refusal {
    /// A refusal with a stable code in kebab-case, and a message for people.
    pub fn new(code: &'static str, message: String) -> Self {
        Self { code, message }
    }

    /// An argument of the wrong type.
    pub fn argument(wanted: &str, got: &Value) -> Self {
        Self::new("bad-argument", format!("expected {wanted}, got {}", kind(got)))
    }

    fn text(&self) -> String {
        json!({ "err": { "code": self.code, "message": self.message } }).to_string()
    }
}

/// A Lua function that calls `body` with its first argument, nil if there is none. Other arguments are ignored.
pub fn total(lua: &Lua, name: &'static str, body: fn(&Value) -> Answer) -> Result<Function> {
    lua.create_function(move |lua, arguments: MultiValue| {
        let argument = arguments.front().unwrap_or(&Value::Nil);
        let answer = catch_unwind(AssertUnwindSafe(|| panics::in_call(|| body(argument))));
        let answer = answer.unwrap_or_else(|_| Err(Refusal::new("panic", panicked(name))));
        lua.create_string(answer.unwrap_or_else(|refusal| refusal.text()))
    })
}

fn panicked(name: &str) -> String {
    match panics::log_path() {
        Some(log) => format!("internal error in \"{name}\"; see \"{}\"", log.display()),
        None => format!("internal error in \"{name}\""),
    }
}

/// The type of a Lua value for a message, without its content, which may be anything.
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Nil => "nothing",
        other => other.type_name(),
    }
}

//! The functions that Lua calls. Only `lua/superpower/engine.lua` uses them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use mlua::{Lua, Result, Table, Value};
use serde_json::json;

use super::boundary::{Answer, Refusal, kind, total};
use super::one_engine::router;
use super::panics;
use crate::engine::PROTOCOL;

/// Maximum size of a request, in bytes: declarations have at most 1 MiB, and people's answers are short.
const MAX_REQUEST: usize = 16 << 20;
/// Maximum number of events for one turn of the editor's main loop.
const MAX_POLL: i64 = 1000;

/// The table that Lua gets when it loads the library.
pub fn exports(lua: &Lua) -> Result<Table> {
    let table = lua.create_table()?;
    table.set("version", env!("CARGO_PKG_VERSION"))?;
    table.set("protocol", PROTOCOL)?;
    table.set("call", total(lua, "call", call)?)?;
    table.set("poll", total(lua, "poll", poll)?)?;
    table.set("attach", total(lua, "attach", attach)?)?;
    table.set("detach", total(lua, "detach", detach)?)?;
    table.set("log", total(lua, "log", log)?)?;
    Ok(table)
}

/// `call(request)`: JSON in, JSON out.
fn call(argument: &Value) -> Answer {
    let Value::String(request) = argument else { return Err(Refusal::argument("a request", argument)) };
    if request.as_bytes().len() > MAX_REQUEST {
        return Err(Refusal::new("too-large", "the request is larger than 16 MiB".to_owned()));
    }
    match request.to_str() {
        Ok(request) => Ok(router().call(&request)),
        Err(_) => Err(Refusal::new("bad-request", "the request is not UTF-8".to_owned())),
    }
}

/// `poll(max)`: the oldest events, as a JSON array.
fn poll(argument: &Value) -> Answer {
    match integer(argument) {
        Some(max) if max > 0 => {
            let max = usize::try_from(max.min(MAX_POLL)).unwrap_or_default();
            Ok(panics::with_unreported(router().engine().poll(max)))
        }
        _ => Err(Refusal::argument("a positive number of events", argument)),
    }
}

/// `attach(fd)`: wakes the editor through the write end of a pipe.
fn attach(argument: &Value) -> Answer {
    let fd = integer(argument).and_then(|fd| i32::try_from(fd).ok());
    let Some(fd) = fd else { return Err(Refusal::argument("a file descriptor", argument)) };
    match panics::attach(fd).and_then(|()| router().engine().attach(fd)) {
        Ok(()) => Ok(done()),
        Err(error) => Err(Refusal::new("attach-failed", error.to_string())),
    }
}

/// `detach()`: stops waking the editor.
fn detach(_: &Value) -> Answer {
    panics::detach();
    router().engine().detach();
    Ok(done())
}

/// `log(path)`: sets the file for panics.
fn log(argument: &Value) -> Answer {
    let Value::String(path) = argument else { return Err(Refusal::argument("a path", argument)) };
    let bytes = path.as_bytes();
    if bytes.is_empty() || bytes.contains(&0) {
        return Err(Refusal::new("bad-argument", format!("expected a path, got {}", kind(argument))));
    }
    panics::log_to(Path::new(OsStr::from_bytes(&bytes)));
    Ok(done())
}

fn done() -> String {
    json!({ "ok": {} }).to_string()
}

/// The integer value of a Lua number, if it has one.
fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Integer(number) => Some(*number),
        // Larger floats no longer represent every integer.
        Value::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => Some(*number as i64),
        _ => None,
    }
}

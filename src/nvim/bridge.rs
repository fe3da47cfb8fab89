//! The library's entry point. It never raises an error, which would end the editor: it returns a table, or a string that
//! says what went wrong.

use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

use mlua::{Lua, Result, Value};
use nvim_oxi::lua::{Error, Pushable, ffi::State};

use super::{api, panics};

/// The value that Lua gets when it loads the library.
struct Exports;

impl Pushable for Exports {
    unsafe fn push(self, state: *mut State) -> std::result::Result<c_int, Error> {
        // SAFETY: the state is the one that loads the library, alive for the length of this call.
        Ok(unsafe { mlua::Lua::entrypoint1(state.cast(), load) })
    }
}

fn load(lua: &Lua) -> Result<Value> {
    let exports = catch_unwind(AssertUnwindSafe(|| {
        panics::install();
        api::exports(lua)
    }));
    match exports {
        Ok(Ok(table)) => Ok(Value::Table(table)),
        Ok(Err(error)) => Ok(Value::String(lua.create_string(error.to_string())?)),
        Err(_) => Ok(Value::String(lua.create_string("internal error while the library was loaded")?)),
    }
}

#[nvim_oxi::plugin]
fn superpower_native() -> Exports {
    Exports
}

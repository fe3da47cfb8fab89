//! The binding to Neovim. Only this module uses Neovim's crates, and it contains no logic.
//!
//! A function for Lua must be total: an error that leaves a function of nvim-oxi, or a panic that leaves any function,
//! ends the editor, even inside of `pcall`, and unsaved work is lost. So nvim-oxi provides only the entry point; all
//! functions are mlua's, accept any Lua values, and return text.
//!
//! * `bridge`: the entry point
//! * `one_engine`: the one engine of this process
//! * `api`: the functions that Lua calls
//! * `boundary`: makes them total
//! * `panics`: logs panics, which would garble the screen

mod api;
mod boundary;
mod bridge;
mod one_engine;
mod panics;

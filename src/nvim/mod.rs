//! The binding to Neovim: the only place that names its crates, and no place for logic.
//!
//! A function offered to Lua must be total. What leaves nvim-oxi's functions as an error, or any of ours as a panic,
//! ends the editor and the user's unsaved work with it, `pcall` or not. So nvim-oxi gives the entry point and nothing
//! else, every function is mlua's, takes any Lua values whatever, and answers text.
//!
//! * `bridge`: the entry point
//! * `one_engine`: the one engine of this process
//! * `api`: the functions that Lua sees
//! * `boundary`: what makes them total
//! * `panics`: where a panic goes instead of into the terminal

mod api;
mod boundary;
mod bridge;
mod one_engine;
mod panics;

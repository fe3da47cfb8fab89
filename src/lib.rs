//! superpower: an engine for multi-stage agent workflows, and its binding to Neovim.
//!
//! ```text
//!         pure: no I/O, no clock, no threads                 effects                      editor
//! text ─▶ declaration ─▶ check ─▶ plan ─▶ run ◀── events ── driver ── harness ─▶ agent's processes
//!              │           │               │  effects ───▶    │ └───── journal, squad.json ─▶ disk
//!              └─ assist   └ diagnostics   └ snapshot ─────▶  └─▶ event queue ─▶ nvim ⇄ lua/superpower
//!
//! disk ─▶ store ─▶ runs (a run on disk, read without driving it) ─▶ engine: door ─▶ table of operations ─▶ verbs, views, editing
//! ```
//!
//! The modules are listed in the order of a superpower's life. Dependencies point one way, towards the top of this
//! list: `tests/engine/architecture.rs` checks this, and `tests/engine/file_graph.rs` checks that files have no cycles.

#[cfg(not(panic = "unwind"))]
compile_error!(
    "build with panic = \"unwind\": a panic that aborts would end the editor and lose unsaved work"
);

pub mod diagnostic;
pub mod environ;
pub mod hidden;
pub mod lookalike;
pub mod source;
pub mod suggest;
pub mod sync;
pub mod terminal;
pub mod tolerant;
pub mod zone;

pub mod assist;
pub mod check;
pub mod condition;
pub mod declaration;
pub mod template;

pub mod outcome;
pub mod plan;
pub mod prompt;
pub mod run;

pub mod config;
pub mod store;

pub mod process;
pub mod project;

pub mod runs;

pub mod harness;

pub mod checkpoint;
pub mod driver;
pub mod engine;
pub mod server;

#[cfg(feature = "nvim")]
mod nvim;

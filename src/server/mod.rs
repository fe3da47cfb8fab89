//! The door over a Unix socket: runs that outlive the editor.
//!
//! ```text
//! editor, command: Router ─▶ Link ── socket ──▶ Attached ─▶ Engine ─▶ drives
//!                    └─▶ its own Engine (declarations, and whatever no driver is there for)
//! ```
//!
//! One process drives the runs of a project ([`driver::drive`]); any number of editors and commands are its clients. In
//! each of those a [`Router`] decides which process performs an operation.

mod asked;
mod attached;
mod clients;
mod connection;
pub mod driver;
mod greeting;
mod link;
mod listener;
mod overview;
mod peer;
pub mod place;
mod router;
mod start;
pub mod wire;

pub use listener::{Listener, listen};
pub use router::Router;
pub use start::program;

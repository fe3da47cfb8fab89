//! The door over a Unix socket: runs that outlive the editor.
//!
//! ```text
//! editor, command                                       driver process
//! Router ─▶ Link ─▶ Connection ═══ socket ═══ Listener ─▶ ClientSession ─▶ Engine ─▶ drives
//!   └─▶ an Engine of its own: declarations, and whatever no driver can be had for
//! ```
//!
//! One process drives the runs of a project ([`driver::main`]); any number of editors and commands are its clients. In each
//! of those a [`Router`] decides which process performs an operation, by the table of operations
//! ([`crate::engine::place`]).

mod client_session;
mod clients;
mod connection;
pub mod driver;
mod greeting;
mod link;
mod listener;
mod overview;
mod peer;
mod request;
mod router;
pub mod socket_path;
mod start;
pub mod wire;

pub use listener::{Listener, listen};
pub use router::Router;
pub use start::program;

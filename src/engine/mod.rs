//! The engine as the editor sees it: requests in, replies and events out.
//!
//! ```text
//! door ─▶ ops (the table) ─▶ verbs    drive runs
//!                            views    show runs
//!                            editing  open declarations, their problems and what is offered in them
//!                            └─▶ core: state that all operations share ─▶ worker, queue
//! ```
//!
//! [`Engine::call`] takes `{"op":NAME,…}` and answers `{"ok":…}` or `{"err":{"code","message","data"?}}`. An operation
//! is a function over a typed request; its lane says whether the editor's main loop may wait for it.

mod attention;
mod bell;
pub(super) mod caller;
mod comparisons;
mod core;
mod door;
mod editing;
mod followers;
mod nested;
mod op;
mod ops;
pub mod panic_test;
pub mod queue;
mod refusal;
mod request_worker;
mod verbs;
mod views;

pub use caller::{CallerSettings, Peer};
pub use core::{Engine, Home, PROTOCOL};
pub use followers::FollowerId;
// The binding depends on the engine only.
pub use crate::sync;
pub use door::Deliver;
pub use op::{Lane, Place};
pub use ops::{is_done_on_exit, lanes, place};

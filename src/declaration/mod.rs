//! A declaration: from text to tree to typed model.
//!
//! [`yaml`] reads the text into a tree that knows where everything stands, [`decode`] reads the tree into a
//! [`draft`] and says what is wrong with its shape, [`crate::check`] judges the draft, and only a draft without an
//! error becomes a [`model::Declaration`].

mod alike;
pub mod chunks;
pub mod decode;
pub mod draft;
mod fields;
pub mod keys;
pub mod line;
mod mapping;
pub mod misfit;
mod misread;
mod missing;
pub mod model;
pub mod order;
pub mod patch;
pub mod path;
pub mod scalar;
pub mod scalar_spans;
pub mod shallow;
mod sink;
mod style;
mod unknown;
pub mod written;
pub mod yaml;

pub use sink::{Report, Sink};

//! Reads a declaration: from text to syntax tree to typed model.
//!
//! [`yaml`] parses the text into a tree with positions, [`decode`] turns the tree into a [`draft`] and reports problems
//! of its shape, [`crate::check`] checks the draft, and only a draft without errors becomes a [`model::Declaration`].

pub mod chunks;
pub mod decode;
pub mod draft;
mod fields;
pub mod keys;
pub mod line;
mod lookalikes;
mod mapping;
mod misreading;
mod missing;
pub mod model;
pub mod order;
pub mod patch;
pub mod path;
pub mod scalar;
pub mod scalar_spans;
mod sink;
mod style;
pub mod type_mismatch;
pub mod under_indented;
mod unknown;
pub mod yaml;
pub mod yaml_writer;

pub use sink::{Report, Sink};

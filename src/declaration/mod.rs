//! A declaration: from text to tree to typed model.

pub mod model;

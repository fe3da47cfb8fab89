//! Runs on disk: everything that reads a run without driving it.

pub mod list;
pub mod open;
pub mod open_error;
pub mod picture;
pub mod projection;
pub mod replay;
pub mod run_cache;
pub mod unsound;

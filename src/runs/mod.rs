//! A run on disk: found, opened, replayed, shown. Whatever reads a run without driving it.

pub mod list;
pub mod open;
pub mod open_error;
pub mod picture;
pub mod projection;
pub mod replay;
pub mod run_cache;
pub mod unsound;

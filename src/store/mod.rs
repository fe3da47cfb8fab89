//! What a run leaves on disk, and how it gets there whole.

pub mod atomic;
pub mod disk;
pub mod journal;
pub mod lease;
pub mod log;
pub mod rundir;
pub mod squad;

//! The files of a run on disk: formats, locks, and writes that a crash cannot leave half done.

pub mod atomic;
pub mod beneath;
pub mod configuration;
pub mod disk;
pub mod journal;
pub mod keyring;
pub mod lease;
pub mod log;
pub mod names;
pub mod prune;
pub mod rundir;
pub mod seal;
pub mod squad;
pub mod state;
pub mod summary;

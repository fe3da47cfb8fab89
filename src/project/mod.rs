//! The files of a project: its root, what it declares, the facts about it, and its changes.
//!
//! Everything here reads the disk on each call and caches nothing. No file found here is ever executed. The only
//! program started is `git`, by [`review`], with a git directory of our own.

pub mod agents;
pub mod branch;
pub mod digest;
pub mod expects;
pub mod facts;
pub mod frontmatter;
pub mod index;
pub mod links;
pub mod named;
pub mod places;
pub mod review;
pub mod root;
mod skills;
pub mod stories;
pub mod superpowers;
pub mod trust;
pub mod walk;

pub use facts::Fact;
pub use index::Index;
pub use named::Named;
pub use places::{Places, Source};
pub use root::NoProject;
pub use superpowers::SuperpowerFile;

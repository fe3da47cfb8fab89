//! The files of a project: where it begins, what it declares, what is true in it, and what changed in it.
//!
//! Everything here reads the disk when it is asked and keeps nothing. No file found here is ever executed; the only
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

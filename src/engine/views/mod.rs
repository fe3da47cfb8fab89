//! Operations that show: runs, their gates and output, why a stage is what it is, and what the health check needs.

pub mod health;
mod opened;
pub mod output;
pub mod read_file;
pub mod review;
pub mod schema;
pub mod status;
pub mod why;

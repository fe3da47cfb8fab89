//! Operations that show runs, their gates and output, the state of a stage, and health.

pub mod health;
mod opened;
pub mod output;
pub mod read_file;
pub mod review;
pub mod schema;
pub mod status;
pub mod why;

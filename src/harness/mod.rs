//! How a stage reaches an agent: one trait, one file for each harness, one way to launch.
//!
//! A harness says what to start and reads the output, but starts nothing itself: [`crate::process`] does, with the same
//! limits for all. [`resolve`] finds the program, [`launch`] starts it, and [`Signal`]s report what follows, in order and
//! from one thread.

mod agent_file;
mod allowed;
mod calls;
mod claude;
mod command;
mod contract;
mod end_text;
mod events;
mod fake;
mod follow;
mod launch;
mod lenient_fields;
mod manual;
mod opencode;
mod provider_errors;
mod release;
mod resolve;
mod script;
mod signal;
mod sink;
mod tail;
mod task;
mod tool;

pub use calls::Calls;
pub use contract::{Actions, End, Harness, Invocation, Stopped, is_name};
pub use fake::fake;
pub use launch::{LaunchError, Running, launch, of};
pub use release::{Need, installed, needs};
pub use resolve::{Harnesses, Kind, Missing, Resolved, Settings, resolve};
pub use script::Step;
pub use signal::{Answer, Ending, Progress, Question, Signal, TodoItem};
pub use task::{Launch, Task};

pub use crate::process::{Request, Server, Way};

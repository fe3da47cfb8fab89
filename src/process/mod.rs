//! Processes of agents, supervised: nothing here knows what an agent is.
//!
//! A process gets a group of its own and the run's mark in its environment; its input is written and its output
//! read by threads that block, so that a busy editor delays nothing. Whoever holds a [`Process`] pulls [`Event`]s
//! from it. The limits and the way from a polite stop to the last descendant's end are inside, by construction, so
//! that no harness can forget them.
//!
//! On Linux the *launcher*, a process beside this one, forks an *init* for each of them: whatever descends from it stays
//! below its init, which ends only when nothing is left. Elsewhere groups and marks have to do.
//!
//! Time is [`std::time::Instant`], which stands still while the machine sleeps (`CLOCK_MONOTONIC` on Linux,
//! `CLOCK_UPTIME_RAW` on macOS). Nothing is built on SIGCHLD, which belongs to the editor.

mod ancestry;
mod environment;
mod exit;
mod group;
mod guard_client;
mod identity;
mod inbox;
mod inbox_item;
mod init_client;
mod launch_protocol;
#[cfg(target_os = "linux")]
mod launcher_client;
mod leader;
mod lines;
mod output;
mod pipe;
mod program;
mod secrets;
mod server_client;
mod spawn;
mod spec;
mod supervise;
mod sweep;
mod terminate;
mod thread;
mod tree;

pub use ancestry::{Ancestry, ancestry, ancestry_of};
pub use environment::Environment;
pub use exit::Exit;
pub use guard_client::program as guard_program;
pub use identity::{alive, name, own_name, record};
pub use inbox::Inbox;
pub use inbox_item::{Item, Stream};
pub use leader::Leader;
pub use lines::{Line, Lines};
pub use program::{NotFound, Places, find_program};
pub use secrets::{Masker, Secrets};
pub use server_client::{Request, Server, Way, prepare};
pub use spawn::{spawn, spawn_in_group};
pub use spec::{LEFTOVER, Mark, POLITE, READ_AFTER_EXIT, STAGE, Spec, Stdin, TERM};
pub use supervise::{Event, Limit, Process};
pub use sweep::sweep;
pub use tree::{ATTEMPT, RUN_ID, is_marked};

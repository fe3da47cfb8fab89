//! Starts processes and supervises them. Nothing here knows what an agent is.
//!
//! A process gets a group of its own and the run's mark in its environment. Its streams are read and written by threads
//! that block, so that a busy editor delays nothing. The owner of a [`Process`] takes [`Event`]s from it. Time limits and
//! the steps of a stop are handled here, so that no harness can forget them.
//!
//! On Linux the *launcher*, a process beside this one, forks an *init* for each launch. All descendants of the launch stay
//! below its init, which exits only when none is left. On other systems descendants are found by group, parent and mark.
//!
//! * `spawn`: starts a process, and the threads that read and write its streams
//! * `supervise`: a running process, with its limits and the steps of a stop; `leader` signals and waits for it
//! * `launcher_client`, `init_client`, `launch_protocol`: the engine's side of the launcher (`src/bin/superpower-guard/`)
//! * `group`, `guard_client`: a process as our own child, where there is no launcher
//! * `short_program`: a program of the user's own that is no agent: no marks, no output, and soon over
//! * `tree`, `limit`, `sweep`, `terminate`, `ancestry`: finds and ends descendants
//! * `server_client`: talks to a process that is an HTTP server
//!
//! Time is [`std::time::Instant`], which stands still while the machine sleeps (`CLOCK_MONOTONIC` on Linux,
//! `CLOCK_UPTIME_RAW` on macOS). SIGCHLD is not used, because the editor handles it.

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
#[cfg(target_os = "linux")]
mod limit;
mod lines;
mod output;
mod pipe;
mod program;
mod secrets;
mod server_client;
mod short_program;
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
pub use short_program::ShortProgram;
pub use spawn::{spawn, spawn_in_group};
pub use spec::{LEFTOVER, Mark, POLITE, READ_AFTER_EXIT, STAGE, Spec, Stdin, TERM};
pub use supervise::{Event, Limit, Process};
pub use sweep::sweep;
pub use tree::{ATTEMPT, RUN_ID, is_marked};

//! The guard: a small process beside the engine that leaves nothing of an agent behind.
//!
//! With the argument `launch` it is the launcher (Linux): the engine asks it to start programs, and every process below
//! them stays below it. Without, it only watches over processes that the engine started, for systems where no process
//! can adopt the orphans below it.
//!
//! Std and libc only.

#[cfg(target_os = "linux")]
mod init;
#[cfg(target_os = "linux")]
mod kill_rounds;
#[cfg(target_os = "linux")]
#[path = "../../process/launch_protocol.rs"]
mod launch_protocol;
#[cfg(target_os = "linux")]
mod launcher;
#[cfg(target_os = "linux")]
mod program;
#[cfg(target_os = "linux")]
mod system;
#[path = "../../process/terminate.rs"]
mod terminate;
#[path = "../../process/tree.rs"]
mod tree;
mod watcher;

fn main() {
    #[cfg(target_os = "linux")]
    if std::env::args().nth(1).as_deref() == Some(launch_protocol::LAUNCH) {
        return launcher::serve();
    }
    watcher::watch();
}

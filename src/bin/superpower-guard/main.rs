//! The guard: a small program beside the engine, which makes sure that no process of an agent survives the engine.
//!
//! With the argument `launch` it is the launcher (Linux): the engine asks it to start programs, and their descendants
//! stay below it. Without the argument it only watches the processes that the engine has started itself, for systems
//! where no process can adopt orphans.
//!
//! * `launcher`: forks an init for each launch; `init` starts the program (`program`) and reaps its descendants
//! * `kill_rounds`: kills children until none is left
//! * `watcher`: the guard without a launcher
//! * `system`: system calls
//!
//! It uses only std and libc, so that it starts fast and its memory is small.

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
#[path = "../../process/limit.rs"]
mod limit;
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

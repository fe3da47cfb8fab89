//! The guard: a small process beside the engine that leaves nothing of an agent behind.
//!
//! With the argument `launch` it is the launcher (Linux): the engine asks it to start programs, and every process below
//! them stays below it. Without, it only watches over processes that the engine started, for systems where no process
//! can adopt the orphans below it.
//!
//! Std and libc only.

#[path = "../../process/ending.rs"]
mod ending;
#[cfg(target_os = "linux")]
mod init;
#[cfg(target_os = "linux")]
mod launcher;
mod marks;
#[cfg(target_os = "linux")]
mod program;
#[cfg(target_os = "linux")]
mod reaper;
#[cfg(target_os = "linux")]
mod system;
#[path = "../../process/tree.rs"]
mod tree;
#[cfg(target_os = "linux")]
#[path = "../../process/wire.rs"]
mod wire;

fn main() {
    #[cfg(target_os = "linux")]
    if std::env::args().nth(1).as_deref() == Some(wire::LAUNCH) {
        return launcher::serve();
    }
    marks::watch();
}

//! Starts a driver process.

use crate::environ::Variables;
use crate::process::guard_program;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The program's name, beside the library.
const PROGRAM: &str = "superpower";
/// How long a driver may take to be ready.
const READY: Duration = Duration::from_secs(5);
/// What it writes then.
pub const READY_LINE: &str = "ready\n";

/// Where the program is: beside the library.
pub fn program() -> Option<PathBuf> {
    let beside = guard_program()?.with_file_name(PROGRAM);
    beside.is_file().then_some(beside)
}

/// Starts a driver for a project and waits until it is ready, or another one is. The error is for people.
pub fn start(root: &Path, environment: &Variables) -> Result<(), String> {
    let program =
        program().ok_or("the program \"superpower\" is not beside the library; run `make build`")?;
    let failed = |error: std::io::Error| format!("cannot start \"{}\": {error}", program.display());
    let mut command = Command::new(&program);
    command.arg("drive").arg("--root").arg(root);
    command.env_clear().envs(environment).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(failed)?;
    let mut said = String::new();
    if let Some(mut output) = child.stdout.take() {
        let until = Instant::now() + READY;
        let mut bytes = [0; 512];
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let left = Timespec { tv_sec: left.as_secs() as _, tv_nsec: left.subsec_nanos() as _ };
            match poll(&mut [PollFd::new(&output, PollFlags::IN)], Some(&left)) {
                Ok(0) => {
                    let _ = child.kill();
                    said = format!("it was not ready within {} seconds", READY.as_secs());
                    break;
                }
                Err(rustix::io::Errno::INTR) => continue,
                _ => {}
            }
            match output.read(&mut bytes) {
                Ok(0) | Err(_) => break,
                Ok(read) => said.push_str(&String::from_utf8_lossy(&bytes[..read])),
            }
        }
    }
    // What was started has handed over to a process of its own, and ends at once.
    let _ = child.wait();
    match said.as_str() {
        READY_LINE => Ok(()),
        "" => Err(format!("\"{}\" ended before it was ready", program.display())),
        why => Err(why.trim_end().to_owned()),
    }
}

//! Starts the program of a launch.

use crate::launch_protocol::{Request, Step};
use crate::system;
use std::ffi::{CString, OsStr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The step that failed, and the system's error number.
pub type Failure = (Step, i32);

/// Starts the program in a group of its own, with these standard streams and no blocked signal.
pub fn start(request: &Request, streams: [OwnedFd; 3]) -> Result<u32, Failure> {
    let failed = |step| move |error: std::io::Error| (step, error.raw_os_error().unwrap_or_default());
    // Here and not in the new process, so that this error differs from a failed start of the program.
    std::env::set_current_dir(text(&request.directory)).map_err(failed(Step::Directory))?;
    let mut command = Command::new(text(&request.program));
    command.process_group(0).args(request.arguments.iter().map(text)).env_clear();
    for variable in &request.environment {
        let bytes = variable.to_bytes();
        if let Some(at) = bytes.iter().position(|&byte| byte == b'=') {
            command.env(OsStr::from_bytes(&bytes[..at]), OsStr::from_bytes(&bytes[at + 1..]));
        }
    }
    let [stdin, stdout, stderr] = streams;
    command.stdin(stdin).stdout(stdout).stderr(stderr);
    // If a child exits while signals are not blocked, its signal is lost. `Init::follow` reaps before its first wait, so
    // the exit is still seen.
    let child = system::with_none_blocked(|| command.spawn()).map_err(failed(Step::Execute))?;
    // A file system cannot be unmounted while it contains a process's working directory.
    let _ = std::env::set_current_dir("/");
    Ok(child.id())
}

fn text(text: &CString) -> &OsStr {
    OsStr::from_bytes(text.to_bytes())
}

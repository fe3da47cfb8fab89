//! The start of the program that was asked for.

use crate::launch_protocol::{Request, Step};
use crate::system;
use std::ffi::{CString, OsStr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// What failed, and the system's error.
pub type Failure = (Step, i32);

/// Starts the program in a group of its own, with these standard streams and no signal blocked.
pub fn start(request: &Request, streams: [OwnedFd; 3]) -> Result<u32, Failure> {
    let failed = |step| move |error: std::io::Error| (step, error.raw_os_error().unwrap_or_default());
    // Here and not in the new process, so that the errors of the two are told from each other.
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
    // The end of a child that is not heard of now is seen at the next look, which comes before the first wait.
    let child = system::with_none_blocked(|| command.spawn()).map_err(failed(Step::Execute))?;
    // A directory that somebody stands in cannot be unmounted.
    let _ = std::env::set_current_dir("/");
    Ok(child.id())
}

fn text(text: &CString) -> &OsStr {
    OsStr::from_bytes(text.to_bytes())
}

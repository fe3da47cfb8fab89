//! The start of a program: from a copy of the init to what was asked for.

use crate::system;
use crate::wire::{Request, Step};
use std::ffi::CString;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};

/// What failed, and the system's error.
pub type Failure = (Step, i32);

/// Starts the program in a group of its own, with these standard streams.
pub fn start(request: &Request, streams: &[OwnedFd; 3]) -> Result<u32, Failure> {
    let failed = |step| move |error: io::Error| (step, error.raw_os_error().unwrap_or_default());
    let environment = pointers(request.environment.iter());
    let arguments = pointers([&request.program].into_iter().chain(&request.arguments));
    // Whoever executes a program closes this pipe by that.
    let (mut failure, mut told) = io::pipe().map_err(failed(Step::Fork))?;
    let pid = system::fork().map_err(failed(Step::Fork))?;
    if pid == 0 {
        let (step, error) = become_it(request, streams, &arguments, &environment);
        let errno = error.raw_os_error().unwrap_or_default();
        let _ = told.write_all(&[&[step as u8][..], &errno.to_le_bytes()].concat());
        system::exit(127);
    }
    drop(told);
    let mut bytes = [0; 5];
    if failure.read_exact(&mut bytes).is_err() {
        return Ok(pid);
    }
    system::wait_for(pid);
    let [step, errno @ ..] = bytes;
    Err((Step::of(step).unwrap_or(Step::Execute), i32::from_le_bytes(errno)))
}

/// Makes the program of this process; gives what failed.
fn become_it(
    request: &Request,
    streams: &[OwnedFd; 3],
    arguments: &[*const libc::c_char],
    environment: &[*const libc::c_char],
) -> (Step, io::Error) {
    system::default_signals();
    // SAFETY: the texts end with a NUL, and the lists with a null, and all of them outlive the calls.
    unsafe {
        libc::setpgid(0, 0);
        for (to, stream) in streams.iter().enumerate() {
            if libc::dup2(stream.as_raw_fd(), to as i32) < 0 {
                return (Step::Streams, io::Error::last_os_error());
            }
        }
        if libc::chdir(request.directory.as_ptr()) < 0 {
            return (Step::Directory, io::Error::last_os_error());
        }
        libc::execvpe(request.program.as_ptr(), arguments.as_ptr(), environment.as_ptr());
        (Step::Execute, io::Error::last_os_error())
    }
}

/// A list as the system wants it, with a null at its end.
fn pointers<'a>(texts: impl Iterator<Item = &'a CString>) -> Vec<*const libc::c_char> {
    texts.map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
}

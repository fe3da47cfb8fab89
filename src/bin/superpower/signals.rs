//! INT, TERM and HUP: they are noted, and wake whoever waits.

use rustix::fs::{OFlags, fcntl_setfl};
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, BorrowedFd, IntoRawFd};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

static CAME: AtomicBool = AtomicBool::new(false);
static BELL: AtomicI32 = AtomicI32::new(-1);

/// Readable once a signal came.
pub struct Signals(PipeReader);

impl Signals {
    /// Catches the signals from now on, but for those that whoever started us has us ignore, as `nohup` does.
    pub fn catch() -> io::Result<Self> {
        let (reader, writer): (PipeReader, PipeWriter) = io::pipe()?;
        fcntl_setfl(&writer, OFlags::NONBLOCK)?;
        BELL.store(writer.into_raw_fd(), Ordering::SeqCst);
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            // SAFETY: the structs are the system's own, and the handler does only what a handler may.
            unsafe {
                let mut before: libc::sigaction = std::mem::zeroed();
                libc::sigaction(signal, std::ptr::null(), &mut before);
                if before.sa_sigaction == libc::SIG_IGN {
                    continue;
                }
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = note as *const () as libc::sighandler_t;
                action.sa_flags = libc::SA_RESTART;
                libc::sigaction(signal, &action, std::ptr::null_mut());
            }
        }
        Ok(Self(reader))
    }

    pub fn came(&self) -> bool {
        CAME.load(Ordering::SeqCst)
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Waits until there is something to read. Whether there is: a signal ends the wait.
    pub fn wait_readable(&self, from: &impl AsFd) -> bool {
        use rustix::event::{PollFd, PollFlags, poll};
        loop {
            let mut ends = [PollFd::new(from, PollFlags::IN), PollFd::new(&self.0, PollFlags::IN)];
            let _ = poll(&mut ends, None);
            if self.came() {
                return false;
            }
            if !ends[0].revents().is_empty() {
                return true;
            }
        }
    }
}

extern "C" fn note(_: libc::c_int) {
    CAME.store(true, Ordering::SeqCst);
    // SAFETY: writes one byte to a pipe of ours that is never closed; the error number of whoever was interrupted stays.
    unsafe {
        let error = errno();
        let before = *error;
        libc::write(BELL.load(Ordering::SeqCst), b"!".as_ptr().cast(), 1);
        *error = before;
    }
}

#[cfg(target_os = "linux")]
unsafe fn errno() -> *mut libc::c_int {
    // SAFETY: always the calling thread's own.
    unsafe { libc::__errno_location() }
}

#[cfg(not(target_os = "linux"))]
unsafe fn errno() -> *mut libc::c_int {
    // SAFETY: always the calling thread's own.
    unsafe { libc::__error() }
}

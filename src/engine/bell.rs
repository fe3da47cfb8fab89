//! The pipe that wakes the reader of a queue.

use rustix::fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl, fstat};
use rustix::io::fcntl_dupfd_cloexec;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};

/// The highest file descriptor of the standard streams.
const LAST_STANDARD: RawFd = 2;

/// A duplicate of `fd`, close-on-exec and non-blocking, if it is the write end of a pipe. The standard streams are refused:
/// they may be pipes too, such as the editor's own channel.
pub(super) fn write_end(fd: RawFd) -> io::Result<OwnedFd> {
    let not_a_pipe =
        || io::Error::new(io::ErrorKind::InvalidInput, format!("\"{fd}\" is not the write end of a pipe"));
    if fd <= LAST_STANDARD {
        return Err(not_a_pipe());
    }
    // SAFETY: `fd` is not negative, and the calls below return an error if it is not open.
    let theirs = unsafe { BorrowedFd::borrow_raw(fd) };
    let flags = fcntl_getfl(theirs)?;
    let is_pipe = FileType::from_raw_mode(fstat(theirs)?.st_mode) == FileType::Fifo;
    if !is_pipe || flags & OFlags::RWMODE == OFlags::RDONLY {
        return Err(not_a_pipe());
    }
    let copy = fcntl_dupfd_cloexec(theirs, LAST_STANDARD + 1)?;
    fcntl_setfl(&copy, flags | OFlags::NONBLOCK)?;
    Ok(copy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    #[test]
    fn anything_but_a_pipes_write_end_is_refused() {
        let (reader, writer) = io::pipe().unwrap();
        let file = tempfile::tempfile().unwrap();
        for fd in [-1, 0, 1, 2, i32::MIN, i32::MAX, 100_000, reader.as_raw_fd(), file.as_raw_fd()] {
            assert!(write_end(fd).is_err(), "{fd}");
        }
        assert!(write_end(writer.as_raw_fd()).is_ok());
    }
}

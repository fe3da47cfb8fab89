//! Reading and writing pipes that can be given up: a process that escaped may hold the other end for ever.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// One end of a child's pipe, with a second descriptor that ends the waiting once its writer is dropped.
#[derive(Debug)]
pub struct Pipe {
    file: File,
    quit: io::PipeReader,
}

impl Pipe {
    /// `end` of a pipe, given up as soon as the writer of `quit` is dropped.
    pub fn new(end: OwnedFd, quit: io::PipeReader) -> io::Result<Self> {
        // SAFETY: the descriptor is open, and the flags are a number.
        let failed = unsafe {
            let flags = libc::fcntl(end.as_raw_fd(), libc::F_GETFL);
            flags < 0 || libc::fcntl(end.as_raw_fd(), libc::F_SETFL, flags | libc::O_NONBLOCK) < 0
        };
        if failed { Err(io::Error::last_os_error()) } else { Ok(Self { file: end.into(), quit }) }
    }

    /// Waits for bytes; 0 at the end, or when given up.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.file.read(buffer) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    if !self.wait(libc::POLLIN)? {
                        return Ok(0);
                    }
                }
                done => return done,
            }
        }
    }

    /// Writes all of it; an error where nobody reads, or when given up.
    pub fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.file.write(bytes) {
                Ok(n) => bytes = &bytes[n..],
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    if !self.wait(libc::POLLOUT)? {
                        return Err(io::ErrorKind::BrokenPipe.into());
                    }
                }
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Writes what there is room for, without waiting, and says how much; `None` where nobody reads.
    pub fn fill(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut written = 0;
        while written < bytes.len() {
            match self.file.write(&bytes[written..]) {
                Ok(n) => written += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => return None,
            }
        }
        Some(written)
    }

    /// Waits until the pipe is ready. `false` when given up.
    fn wait(&self, events: i16) -> io::Result<bool> {
        let entry = |fd: RawFd, events| libc::pollfd { fd, events, revents: 0 };
        let mut fds = [entry(self.file.as_raw_fd(), events), entry(self.quit.as_raw_fd(), libc::POLLIN)];
        // SAFETY: two entries, as said.
        if unsafe { libc::poll(fds.as_mut_ptr(), 2, -1) } < 0 {
            let error = io::Error::last_os_error();
            return if error.kind() == io::ErrorKind::Interrupted { Ok(true) } else { Err(error) };
        }
        // What is ready is read before giving up.
        Ok(fds[0].revents != 0 || fds[1].revents == 0)
    }
}

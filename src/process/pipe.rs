//! Reading and writing pipes that can be given up: a process that escaped may hold the other end for ever.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};

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

    /// Reads what is there without waiting: 0 at the end, or when given up; `None` where nothing has come yet.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self.file.read(buffer) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Ok(None),
            // What is ready is read before giving up.
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(self.given_up()?.then_some(0)),
            done => done.map(Some),
        }
    }

    /// Waits until there is something to read in one of them, its end included, or they are given up, or until
    /// `other` is ready; says whether that is.
    pub fn wait_to_read<'a>(
        pipes: impl Iterator<Item = &'a Self>,
        other: Option<&OwnedFd>,
    ) -> io::Result<bool> {
        let entries = |pipe: &Self| [entry(&pipe.file, libc::POLLIN), entry(&pipe.quit, libc::POLLIN)];
        let mut all: Vec<_> = other.map(|other| entry(other, libc::POLLIN)).into_iter().collect();
        all.extend(pipes.flat_map(entries));
        poll(&mut all, FOREVER)?;
        Ok(other.is_some() && all[0].revents != 0)
    }

    /// Writes all of it; an error where nobody reads, or when given up.
    pub fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.file.write(bytes) {
                Ok(n) => bytes = &bytes[n..],
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    poll(&mut [entry(&self.file, libc::POLLOUT), entry(&self.quit, libc::POLLIN)], FOREVER)?;
                    if self.given_up()? {
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

    fn given_up(&self) -> io::Result<bool> {
        let mut quit = [entry(&self.quit, libc::POLLIN)];
        poll(&mut quit, 0)?;
        Ok(quit[0].revents != 0)
    }
}

/// A time limit of `poll` that is none.
const FOREVER: libc::c_int = -1;

fn entry(file: &impl AsRawFd, events: i16) -> libc::pollfd {
    libc::pollfd { fd: file.as_raw_fd(), events, revents: 0 }
}

/// Waits until one of them is ready; a signal may end that early.
fn poll(entries: &mut [libc::pollfd], timeout: libc::c_int) -> io::Result<()> {
    // SAFETY: as many entries as said.
    if unsafe { libc::poll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, timeout) } < 0 {
        let error = io::Error::last_os_error();
        return if error.kind() == io::ErrorKind::Interrupted { Ok(()) } else { Err(error) };
    }
    Ok(())
}

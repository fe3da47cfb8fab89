//! Reads and writes pipes, and can stop waiting for them: an escaped process may keep the other end open forever.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};

/// One end of a child's pipe, and a second pipe that cancels every wait when its writer is dropped.
#[derive(Debug)]
pub struct Pipe {
    file: File,
    cancel: io::PipeReader,
}

impl Pipe {
    /// Wraps the `end` of a pipe. Waits are cancelled when the writer of `cancel` is dropped.
    pub fn new(end: OwnedFd, cancel: io::PipeReader) -> io::Result<Self> {
        fcntl_setfl(&end, fcntl_getfl(&end)? | OFlags::NONBLOCK)?;
        Ok(Self { file: end.into(), cancel })
    }

    /// Reads available bytes without waiting: 0 at the end or after a cancel, `None` if there is nothing yet.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self.file.read(buffer) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Ok(None),
            // A cancel counts only when there is nothing left to read.
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(self.is_cancelled()?.then_some(0)),
            done => done.map(Some),
        }
    }

    /// Waits until one of the pipes can be read, has ended or is cancelled, or until `other` can be read. Returns whether
    /// `other` can.
    pub fn wait_to_read<'a>(
        pipes: impl Iterator<Item = &'a Self>,
        other: Option<&OwnedFd>,
    ) -> io::Result<bool> {
        let entries = |pipe: &'a Self| [readable(&pipe.file), readable(&pipe.cancel)];
        let mut all: Vec<_> = other.map(readable).into_iter().collect();
        all.extend(pipes.flat_map(entries));
        wait(&mut all, None)?;
        Ok(other.is_some() && !all[0].revents().is_empty())
    }

    /// Writes all bytes; an error if the reader has closed the pipe, or after a cancel.
    pub fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.file.write(bytes) {
                Ok(n) => bytes = &bytes[n..],
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    wait(&mut [PollFd::new(&self.file, PollFlags::OUT), readable(&self.cancel)], None)?;
                    if self.is_cancelled()? {
                        return Err(io::ErrorKind::BrokenPipe.into());
                    }
                }
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Writes what fits without waiting, and returns how much; `None` if the reader has closed the pipe.
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

    fn is_cancelled(&self) -> io::Result<bool> {
        let mut cancel = [readable(&self.cancel)];
        wait(&mut cancel, Some(&Timespec::default()))?;
        Ok(!cancel[0].revents().is_empty())
    }
}

fn readable(file: &impl AsFd) -> PollFd<'_> {
    PollFd::new(file, PollFlags::IN)
}

/// Waits until one entry is ready, or until the limit. A signal may end the wait early.
fn wait(entries: &mut [PollFd<'_>], limit: Option<&Timespec>) -> io::Result<()> {
    match poll(entries, limit) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

//! Reading and writing pipes that can be given up: a process that escaped may hold the other end for ever.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};

/// One end of a child's pipe, with a second descriptor that ends the waiting once its writer is dropped.
#[derive(Debug)]
pub struct Pipe {
    file: File,
    quit: io::PipeReader,
}

impl Pipe {
    /// `end` of a pipe, given up as soon as the writer of `quit` is dropped.
    pub fn new(end: OwnedFd, quit: io::PipeReader) -> io::Result<Self> {
        fcntl_setfl(&end, fcntl_getfl(&end)? | OFlags::NONBLOCK)?;
        Ok(Self { file: end.into(), quit })
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
        let entries = |pipe: &'a Self| [readable(&pipe.file), readable(&pipe.quit)];
        let mut all: Vec<_> = other.map(readable).into_iter().collect();
        all.extend(pipes.flat_map(entries));
        wait(&mut all, None)?;
        Ok(other.is_some() && !all[0].revents().is_empty())
    }

    /// Writes all of it; an error where nobody reads, or when given up.
    pub fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.file.write(bytes) {
                Ok(n) => bytes = &bytes[n..],
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    wait(&mut [PollFd::new(&self.file, PollFlags::OUT), readable(&self.quit)], None)?;
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
        let mut quit = [readable(&self.quit)];
        wait(&mut quit, Some(&Timespec::default()))?;
        Ok(!quit[0].revents().is_empty())
    }
}

fn readable(file: &impl AsFd) -> PollFd<'_> {
    PollFd::new(file, PollFlags::IN)
}

/// Waits until one of them is ready, for ever without a limit; a signal may end that early.
fn wait(entries: &mut [PollFd<'_>], limit: Option<&Timespec>) -> io::Result<()> {
    match poll(entries, limit) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

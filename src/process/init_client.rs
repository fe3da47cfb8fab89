//! The engine's end of one launch's init, which holds all that descends from the launch.

#![cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux has a launcher"))]

use super::Exit;
use super::launch_protocol::{Answer, Command, Request, Step};
use crate::sync::locked;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::SendFlags;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How long a launch may take to start or to fail. A launcher that was stopped says nothing.
const START: Duration = Duration::from_secs(10);

/// The init of a launch.
#[derive(Debug)]
pub struct InitClient {
    /// The program's process.
    pub pid: u32,
    /// When it started; 0 where that cannot be told.
    pub start_time: u64,
    socket: UnixStream,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Of an answer that has not come whole.
    bytes: Vec<u8>,
    exit: Option<Exit>,
    /// Nothing is left of the launch.
    over: bool,
}

impl InitClient {
    /// Hands the request over, and waits for the start. Nothing where nobody is at the other end any more.
    pub fn begin(socket: UnixStream, request: &Request) -> io::Result<Option<Self>> {
        socket.set_write_timeout(Some(START))?;
        socket.set_read_timeout(Some(START))?;
        let mut bytes = [0; Answer::SIZE];
        // The launcher may have failed without reading it, and has said why.
        let sent = send(&socket, &request.bytes());
        if let Err(error) = (&socket).read_exact(&mut bytes).and(sent.or_else(gone)) {
            return gone(error).map(|()| None);
        }
        match Answer::read(bytes) {
            Some(Answer::Started { pid, start_time }) => {
                socket.set_nonblocking(true)?;
                Ok(Some(Self { pid, start_time, socket, state: Mutex::default() }))
            }
            Some(Answer::Failed { step, errno }) => Err(failure(step, errno)),
            _ => Err(io::Error::other(
                "the launcher \"superpower-guard\" is of another version; run `make build`",
            )),
        }
    }

    /// A descriptor that is readable when something new is known of the launch.
    pub fn news(&self) -> io::Result<OwnedFd> {
        Ok(self.socket.try_clone()?.into())
    }

    /// Whether the program has ended, or is nobody's any more.
    pub fn ended(&self) -> bool {
        let state = self.listen();
        state.exit.is_some() || state.over
    }

    /// How the program ended, once it has.
    pub fn exit(&self) -> Option<Exit> {
        let state = self.listen();
        // Its init was killed, and what was below that with it.
        state.exit.or(state.over.then_some(Exit::Signal(libc::SIGKILL)))
    }

    /// Waits for the program's end.
    pub fn wait(&self) {
        while !self.ended() && self.wait_for_news(None).is_ok() {}
    }

    /// Waits until nothing is left of the launch, at most so long; says whether that is so.
    pub fn wait_over(&self, within: Duration) -> bool {
        let until = Instant::now() + within;
        loop {
            if self.listen().over {
                return true;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || self.wait_for_news(Some(left)).is_err() {
                return false;
            }
        }
    }

    /// Whether nothing is left of the launch.
    pub fn is_over(&self) -> bool {
        self.listen().over
    }

    /// Tells the init; one that is gone has nothing to do.
    pub fn tell(&self, command: Command) {
        let _ = send(&self.socket, &command.bytes());
    }

    /// Takes what the init has told.
    fn listen(&self) -> std::sync::MutexGuard<'_, State> {
        let mut state = locked(&self.state);
        while !state.over {
            let mut bytes = [0; Answer::SIZE];
            let missing = Answer::SIZE - state.bytes.len();
            match (&self.socket).read(&mut bytes[..missing]) {
                Ok(0) => state.over = true,
                Ok(n) => {
                    state.bytes.extend_from_slice(&bytes[..n]);
                    state.take();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => state.over = true,
            }
        }
        state
    }

    fn wait_for_news(&self, within: Option<Duration>) -> io::Result<()> {
        let limit = within.and_then(|within| Timespec::try_from(within).ok());
        match poll(&mut [PollFd::new(&self.socket, PollFlags::IN)], limit.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl State {
    fn take(&mut self) {
        let Ok(bytes) = <[u8; Answer::SIZE]>::try_from(&*self.bytes) else { return };
        self.bytes.clear();
        match Answer::read(bytes) {
            Some(Answer::Exited(status)) => {
                self.exit = Some(Exit::of(ExitStatus::from_raw(status)));
            }
            Some(Answer::Over) => self.over = true,
            _ => {}
        }
    }
}

/// Sends all of it. Whoever is gone is an error, and no signal to the editor.
fn send(socket: &UnixStream, mut bytes: &[u8]) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    const QUIETLY: SendFlags = SendFlags::NOSIGNAL;
    #[cfg(not(target_os = "linux"))]
    const QUIETLY: SendFlags = SendFlags::empty();
    while !bytes.is_empty() {
        match rustix::net::send(socket, bytes, QUIETLY) {
            Ok(sent) => bytes = &bytes[sent..],
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Nobody is at the other end: no error by itself.
fn gone(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => Ok(()),
        io::ErrorKind::WouldBlock => {
            Err(io::Error::new(io::ErrorKind::TimedOut, "the launcher \"superpower-guard\" does not answer"))
        }
        _ => Err(error),
    }
}

/// An error of the system, with what was tried where that is not the program itself.
fn failure(step: Step, errno: i32) -> io::Error {
    let error = io::Error::from_raw_os_error(errno);
    let what = match step {
        Step::Execute => return error,
        Step::Directory => "cannot enter the project's directory",
        Step::Fork => "cannot start a process",
        Step::Adopt => "cannot keep together what it starts",
    };
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

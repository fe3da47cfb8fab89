//! The engine's side of the connection to a launch's init, the process that all descendants of the launch stay below.

#![cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux has a launcher"))]

use super::Exit;
use super::launch_protocol::{Answer, Command, Request, Step};
use super::tree::{self, ProcessSet};
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

/// How long a launch may take to start or to fail. A launcher that is stopped (SIGSTOP) does not answer.
const START: Duration = Duration::from_secs(10);

/// The connection to a launch's init.
#[derive(Debug)]
pub struct InitClient {
    /// The program's process id.
    pub pid: u32,
    /// When the program started; 0 if unknown.
    pub start_time: u64,
    /// The init's process id, and when it started.
    own: (u32, u64),
    socket: UnixStream,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The start of an answer that has not arrived completely.
    bytes: Vec<u8>,
    exit: Option<Exit>,
    /// Whether nothing is left of the launch.
    over: bool,
    /// Whether the init was killed before it could say that it is over.
    lost: bool,
}

impl InitClient {
    /// Sends the request and waits for the start; `None` if the launcher or the init was killed.
    pub fn begin(socket: UnixStream, request: &Request) -> io::Result<Option<Self>> {
        socket.set_write_timeout(Some(START))?;
        socket.set_read_timeout(Some(START))?;
        let mut bytes = [0; Answer::SIZE];
        // If sending fails, the launcher may still have sent an answer that says why.
        let sent = write(&socket, &request.bytes());
        if let Err(error) = (&socket).read_exact(&mut bytes).and(sent.or_else(disconnected)) {
            return disconnected(error).map(|()| None);
        }
        match Answer::read(bytes) {
            Some(Answer::Started { pid, start_time, init }) => {
                socket.set_nonblocking(true)?;
                let own = (init, tree::start_time_of(init).unwrap_or_default());
                Ok(Some(Self { pid, start_time, own, socket, state: Mutex::default() }))
            }
            Some(Answer::Failed { step, errno }) => Err(failure(step, errno)),
            _ => Err(io::Error::other(
                "the launcher \"superpower-guard\" is of another version; run `make build`",
            )),
        }
    }

    /// A descriptor that is readable when an answer has arrived.
    pub fn answers(&self) -> io::Result<OwnedFd> {
        Ok(self.socket.try_clone()?.into())
    }

    /// Whether the program has exited, or its init was killed.
    pub fn ended(&self) -> bool {
        let state = self.read_answers();
        state.exit.is_some() || state.over
    }

    /// How the program exited; `None` while it is running.
    pub fn exit(&self) -> Option<Exit> {
        let state = self.read_answers();
        // The init was killed without an answer, so the launcher has killed the program.
        state.exit.or(state.over.then_some(Exit::Signal(libc::SIGKILL)))
    }

    /// Waits until the program has exited.
    pub fn wait(&self) {
        while !self.ended() && self.wait_for_answer(None).is_ok() {}
    }

    /// Waits until nothing is left of the launch, for at most `within`. Returns whether nothing is left.
    pub fn wait_over(&self, within: Duration) -> bool {
        let until = Instant::now() + within;
        loop {
            if self.read_answers().over {
                return true;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || self.wait_for_answer(Some(left)).is_err() {
                return false;
            }
        }
    }

    /// Whether nothing is left of the launch.
    pub fn is_over(&self) -> bool {
        self.read_answers().over
    }

    /// Whether the init was killed, so that only the launcher may have ended its descendants.
    pub fn is_lost(&self) -> bool {
        self.read_answers().lost
    }

    /// The current descendants of the init.
    pub fn below(&self) -> ProcessSet {
        let (pid, start_time) = self.own;
        if !self.is_over() && tree::lives(pid, start_time) {
            tree::descendants(pid)
        } else {
            ProcessSet::new()
        }
    }

    /// Continues the init if something has stopped it.
    pub fn wake(&self) {
        tree::signal(&ProcessSet::from([self.own]), libc::SIGCONT);
    }

    /// Sends a command. An error is ignored, because an init that has exited has nothing to do.
    pub fn send(&self, command: Command) {
        let _ = write(&self.socket, &command.bytes());
    }

    /// Reads the answers that have arrived.
    fn read_answers(&self) -> std::sync::MutexGuard<'_, State> {
        let mut state = locked(&self.state);
        while !state.over {
            let mut bytes = [0; Answer::SIZE];
            let missing = Answer::SIZE - state.bytes.len();
            match (&self.socket).read(&mut bytes[..missing]) {
                Ok(0) => (state.over, state.lost) = (true, true),
                Ok(n) => {
                    state.bytes.extend_from_slice(&bytes[..n]);
                    state.take();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => (state.over, state.lost) = (true, true),
            }
        }
        state
    }

    fn wait_for_answer(&self, within: Option<Duration>) -> io::Result<()> {
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

/// Writes all bytes. A closed connection is an error, and must not raise SIGPIPE in the editor.
fn write(socket: &UnixStream, mut bytes: &[u8]) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    const NO_SIGPIPE: SendFlags = SendFlags::NOSIGNAL;
    #[cfg(not(target_os = "linux"))]
    const NO_SIGPIPE: SendFlags = SendFlags::empty();
    while !bytes.is_empty() {
        match rustix::net::send(socket, bytes, NO_SIGPIPE) {
            Ok(sent) => bytes = &bytes[sent..],
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// `Ok` if the error says that the other end is closed.
fn disconnected(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => Ok(()),
        io::ErrorKind::WouldBlock => {
            Err(io::Error::new(io::ErrorKind::TimedOut, "the launcher \"superpower-guard\" does not answer"))
        }
        _ => Err(error),
    }
}

/// The system's error, with the step that failed if it is not the start of the program itself.
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

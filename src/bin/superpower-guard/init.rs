//! The init of one launch: it starts the program, adopts orphans among the program's descendants, and exits only when no
//! descendant is left.
//!
//! The engine sends commands over a socket. If the engine or the launcher is gone, the init ends the launch by itself.

use crate::kill_rounds::Rounds;
use crate::launch_protocol::{self, Answer, Command, Request};
use crate::system::{self, Waited};
use crate::{program, tree};
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Time for processes to end after SIGTERM, before they get SIGKILL.
const GRACE: Duration = Duration::from_millis(250);

struct Init {
    /// The connection to the engine; `None` once it is closed.
    engine: Option<UnixStream>,
    /// A pipe that closes when the launcher exits; `None` after that.
    launcher: Option<OwnedFd>,
    signals: OwnedFd,
    /// The program's process id, until it has exited.
    program: Option<u32>,
    /// Whether descendants can be listed, which needs `/proc`.
    has_proc: bool,
    end: End,
}

/// The progress of ending all descendants.
enum End {
    Not,
    /// SIGTERM was sent; SIGKILL follows at this time.
    Terminating(Instant),
    Killing(Rounds),
}

/// Starts the program that the engine requests, and returns when its last descendant has ended.
pub fn run(mut engine: UnixStream, streams: [OwnedFd; 3], launcher: OwnedFd) {
    system::own_session();
    system::set_name(launch_protocol::INIT);
    let failed =
        |mut engine: UnixStream, step, errno| _ = engine.write_all(&Answer::Failed { step, errno }.bytes());
    let signals = match system::adopt_orphans().and_then(|()| system::child_signals()) {
        Ok(signals) => signals,
        Err(error) => {
            return failed(engine, launch_protocol::Step::Adopt, error.raw_os_error().unwrap_or_default());
        }
    };
    let Ok(request) = Request::read(&mut engine) else { return };
    let pid = match program::start(&request, streams) {
        Ok(pid) => pid,
        Err((step, errno)) => return failed(engine, step, errno),
    };
    drop(request);
    let stat = tree::stat(pid);
    let start_time = stat.as_ref().map_or(0, |stat| stat.start_time);
    let (launcher, program, has_proc) = (Some(launcher), Some(pid), stat.is_some());
    let mut init = Init { engine: None, launcher, signals, program, has_proc, end: End::Not };
    if engine.set_nonblocking(true).is_ok() {
        init.engine = Some(engine);
    }
    init.send(&[Answer::Started { pid, start_time, init: std::process::id() }]);
    init.follow();
}

impl Init {
    fn follow(&mut self) {
        if self.engine.is_none() {
            self.terminate();
        }
        while self.reap() {
            let pause = self.step();
            let fds = [
                Some(self.signals.as_fd()),
                self.engine.as_ref().map(AsFd::as_fd),
                self.launcher.as_ref().map(AsFd::as_fd),
            ];
            let [child_ended, readable, launcher_gone] = system::wait_to_read(fds, pause);
            if child_ended {
                system::drain_signals(&self.signals);
            }
            if readable {
                self.read_commands();
            }
            if launcher_gone {
                self.launcher = None;
                self.terminate();
            }
        }
    }

    /// Reaps children that have ended. Returns `false` if no child is left.
    fn reap(&mut self) -> bool {
        let mut exited = None;
        loop {
            if let Some(program) = self.program
                && !self.has_proc
                && system::has_ended(program)
            {
                // After it is reaped, its group id may belong to other processes.
                system::kill_group(program, libc::SIGKILL);
            }
            match system::reap() {
                Waited::Ended(pid, status) if self.program == Some(pid) => {
                    self.program = None;
                    exited = Some(Answer::Exited(status));
                }
                Waited::Ended(..) => {}
                Waited::NoneEnded => {
                    self.send(exited.as_slice());
                    return true;
                }
                Waited::NoChildren => {
                    // In one write, so that the engine wakes up once for both.
                    self.send(&[exited.as_slice(), &[Answer::Over]].concat());
                    return false;
                }
            }
        }
    }

    /// Does what is due. Returns how long to wait after that.
    fn step(&mut self) -> Option<Duration> {
        if let End::Terminating(until) = self.end {
            let left = until.saturating_duration_since(Instant::now());
            if !left.is_zero() {
                // Rounded up, because a wait of 0 ms would repeat in a busy loop.
                return Some(left + Duration::from_millis(1));
            }
            self.end = End::Killing(Rounds::default());
        }
        if !matches!(self.end, End::Killing(_)) {
            return None;
        }
        // Without `/proc` only the group is known.
        self.signal_group(libc::SIGKILL);
        let End::Killing(rounds) = &mut self.end else { return None };
        rounds.kill(&|_| false);
        Some(rounds.pause())
    }

    /// Sends SIGTERM to all descendants.
    fn terminate(&mut self) {
        if matches!(self.end, End::Not) {
            let below = tree::descendants(std::process::id());
            tree::signal(&below, libc::SIGTERM);
            tree::signal(&below, libc::SIGCONT);
            if below.is_empty() {
                self.signal_group(libc::SIGTERM);
                self.signal_group(libc::SIGCONT);
            }
            self.end = End::Terminating(Instant::now() + GRACE);
        }
    }

    /// Reads and performs the engine's commands.
    fn read_commands(&mut self) {
        while let Some(engine) = &mut self.engine {
            let mut bytes = [0; 2];
            match engine.read(&mut bytes) {
                Ok(2) => self.perform(bytes),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                // The engine writes a command at once, so a partial one means that the engine is gone.
                Ok(_) | Err(_) => {
                    self.engine = None;
                    self.terminate();
                }
            }
        }
    }

    fn perform(&mut self, bytes: [u8; 2]) {
        match Command::read(bytes) {
            Some(Command::Signal(signal)) => self.signal_group(i32::from(signal)),
            Some(Command::End) => self.terminate(),
            Some(Command::Kill) if !matches!(self.end, End::Killing(_)) => {
                self.end = End::Killing(Rounds::default());
            }
            Some(Command::Kill) | None => {}
        }
    }

    /// Sends a signal to the program's group. The group id is safe to use while the program is not reaped.
    fn signal_group(&self, signal: i32) {
        if let Some(group) = self.program {
            system::kill_group(group, signal);
        }
    }

    fn send(&mut self, answers: &[Answer]) {
        if let Some(engine) = self.engine.as_mut().filter(|_| !answers.is_empty()) {
            let bytes: Vec<u8> = answers.iter().flat_map(|answer| answer.bytes()).collect();
            // An error means that the engine is gone, which the next read shows.
            let _ = engine.write_all(&bytes);
        }
    }
}

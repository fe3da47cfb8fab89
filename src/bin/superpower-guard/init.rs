//! The init of one launch: it starts the program, adopts what the program's descendants leave, and is gone only when
//! nothing is left below it.
//!
//! The engine tells it over a socket when to end what is there. Where that socket or the launcher is gone, it does so by
//! itself.

use crate::kill_rounds::Rounds;
use crate::launch_protocol::{self, Answer, Command, Request};
use crate::system::{self, Waited};
use crate::{program, tree};
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// What is to end may take this long over TERM.
const GRACE: Duration = Duration::from_millis(250);

struct Init {
    /// To the engine; none where it is gone.
    engine: Option<UnixStream>,
    /// Ends with the launcher; none where that is gone.
    launcher: Option<OwnedFd>,
    signals: OwnedFd,
    /// The program, until it has ended.
    program: Option<u32>,
    /// Whether what is below can be seen, which takes `/proc`.
    sees: bool,
    end: End,
}

/// How far the end of all that is below has come.
enum End {
    Not,
    /// TERM was sent; KILL follows then.
    Asked(Instant),
    Killing(Rounds),
}

/// Starts what the engine asks for, and follows it to the end of the last that descends from it.
pub fn run(mut engine: UnixStream, streams: [OwnedFd; 3], launcher: OwnedFd) {
    system::own_session();
    system::name(launch_protocol::INIT);
    let failed =
        |mut engine: UnixStream, step, errno| _ = engine.write_all(&Answer::Failed { step, errno }.bytes());
    let signals = match system::adopt_orphans().and_then(|()| system::children_signal()) {
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
    let (launcher, program, sees) = (Some(launcher), Some(pid), stat.is_some());
    let mut init = Init { engine: None, launcher, signals, program, sees, end: End::Not };
    if engine.set_nonblocking(true).is_ok() {
        init.engine = Some(engine);
    }
    init.tell(&[Answer::Started { pid, start_time }]);
    init.follow();
}

impl Init {
    fn follow(&mut self) {
        if self.engine.is_none() {
            self.ask();
        }
        while self.reap() {
            let pause = self.step();
            let fds = [
                Some(self.signals.as_fd()),
                self.engine.as_ref().map(AsFd::as_fd),
                self.launcher.as_ref().map(AsFd::as_fd),
            ];
            let [ended, told, launcher_gone] = system::wait_to_read(fds, pause);
            if ended {
                system::forget_signals(&self.signals);
            }
            if told {
                self.listen();
            }
            if launcher_gone {
                self.launcher = None;
                self.ask();
            }
        }
    }

    /// Takes the status of whoever has ended. `false` where nobody is left.
    fn reap(&mut self) -> bool {
        let mut exited = None;
        loop {
            if let Some(program) = self.program
                && !self.sees
                && system::has_ended(program)
            {
                // The last moment at which what is left of its group can be reached.
                system::kill_group(program, libc::SIGKILL);
            }
            match system::take_ended() {
                Waited::Ended(pid, status) if self.program == Some(pid) => {
                    self.program = None;
                    exited = Some(Answer::Exited(status));
                }
                Waited::Ended(..) => {}
                Waited::Nobody => {
                    self.tell(exited.as_slice());
                    return true;
                }
                Waited::Alone => {
                    // At once: whoever waits for both is woken once.
                    self.tell(&[exited.as_slice(), &[Answer::Over]].concat());
                    return false;
                }
            }
        }
    }

    /// Does what is due, and says how long to wait then.
    fn step(&mut self) -> Option<Duration> {
        if let End::Asked(until) = self.end {
            let left = until.saturating_duration_since(Instant::now());
            if !left.is_zero() {
                // Rounded up: a wait of no length would be asked for again and again.
                return Some(left + Duration::from_millis(1));
            }
            self.end = End::Killing(Rounds::default());
        }
        if !matches!(self.end, End::Killing(_)) {
            return None;
        }
        // Where nothing can be seen, the group is all that is known.
        self.signal_group(libc::SIGKILL);
        let End::Killing(rounds) = &mut self.end else { return None };
        rounds.kill(&|_| false);
        Some(rounds.pause())
    }

    /// Asks everything below to end.
    fn ask(&mut self) {
        if matches!(self.end, End::Not) {
            let below = tree::descendants(std::process::id());
            tree::signal(&below, libc::SIGTERM);
            tree::signal(&below, libc::SIGCONT);
            if below.is_empty() {
                self.signal_group(libc::SIGTERM);
                self.signal_group(libc::SIGCONT);
            }
            self.end = End::Asked(Instant::now() + GRACE);
        }
    }

    /// Does what the engine says.
    fn listen(&mut self) {
        while let Some(engine) = &mut self.engine {
            let mut bytes = [0; 2];
            match engine.read(&mut bytes) {
                Ok(2) => self.obey(bytes),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                // A command is one write of the engine's, so half of one is the end of it.
                Ok(_) | Err(_) => {
                    self.engine = None;
                    self.ask();
                }
            }
        }
    }

    fn obey(&mut self, bytes: [u8; 2]) {
        match Command::read(bytes) {
            Some(Command::Signal(signal)) => self.signal_group(i32::from(signal)),
            Some(Command::End) => self.ask(),
            Some(Command::Kill) if !matches!(self.end, End::Killing(_)) => {
                self.end = End::Killing(Rounds::default());
            }
            Some(Command::Kill) | None => {}
        }
    }

    /// Sends a signal to the program's group. While the program is not reaped, that is nobody else's.
    fn signal_group(&self, signal: i32) {
        if let Some(group) = self.program {
            system::kill_group(group, signal);
        }
    }

    fn tell(&mut self, answers: &[Answer]) {
        if let Some(engine) = self.engine.as_mut().filter(|_| !answers.is_empty()) {
            let bytes: Vec<u8> = answers.iter().flat_map(|answer| answer.bytes()).collect();
            // It may be gone.
            let _ = engine.write_all(&bytes);
        }
    }
}

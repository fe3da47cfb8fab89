//! The launcher: for each launch it forks an init, and it ends what an init that was killed has left.
//!
//! It lives as long as the engine holds its end of the socket. Then it sees every init to its end, and ends whatever
//! carries the mark of a launch that was still there, and leaves.

use crate::kill_rounds::{Rounds, children};
use crate::launch_protocol::{Answer, Step};
use crate::system::{self, Message, Waited};
use crate::{init, launch_protocol, terminate, tree};
use std::io::{self, PipeReader, PipeWriter, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// How long all of it may take once the engine is gone.
const LAST: Duration = Duration::from_millis(1500);
/// What is not below an init may take this long over TERM.
const GRACE: Duration = Duration::from_millis(200);

/// A launch whose init is not reaped, or of which something is left.
struct Launch {
    init: u32,
    /// The init's own end of its socket: the engine sees the end of it only when nothing is left.
    engine: UnixStream,
    run_id: String,
    attempt: u32,
    /// The init ended before what was below it.
    orphaned: bool,
}

struct Launcher {
    socket: OwnedFd,
    signals: OwnedFd,
    launches: Vec<Launch>,
    /// Held open by this process alone, so that its death is seen at the other end, which the inits have.
    alive: (PipeReader, PipeWriter),
    strays: Option<Rounds>,
}

/// Serves the engine at standard input until that is gone, and what it launched too.
pub fn serve() {
    system::own_session();
    system::name(launch_protocol::LAUNCHER);
    system::close_others();
    let Ok(launcher) = Launcher::new() else { return };
    launcher.serve();
}

impl Launcher {
    fn new() -> io::Result<Self> {
        system::adopt_orphans()?;
        let socket = system::take_stdin()?;
        let (signals, alive) = (system::children_signal()?, io::pipe()?);
        Ok(Self { socket, signals, launches: Vec::new(), alive, strays: None })
    }

    fn serve(mut self) {
        loop {
            let [asked, ended] =
                system::wait_to_read([Some(self.socket.as_fd()), Some(self.signals.as_fd())], self.pause());
            self.care(ended);
            if !asked {
                continue;
            }
            match system::receive(self.socket.as_fd()) {
                Ok(message) if message.text.is_empty() => return self.leave(),
                Ok(message) => match self.launch(message) {
                    Some(init) => {
                        // In the copy: nothing of the launcher's is kept, above all not what shows that it lives.
                        drop(self);
                        return init();
                    }
                    None => continue,
                },
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return self.leave(),
            }
        }
    }

    /// Forks an init. In the copy, gives what that is to do.
    fn launch(
        &mut self,
        message: Message<{ launch_protocol::DESCRIPTORS }>,
    ) -> Option<impl FnOnce() + use<>> {
        let [engine, stdin, stdout, stderr] = message.descriptors;
        let mut engine = UnixStream::from(engine?);
        let failed = |engine: &mut UnixStream, errno| {
            // It may be gone.
            let _ = engine.write_all(&Answer::Failed { step: Step::Fork, errno }.bytes());
        };
        let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
            failed(&mut engine, libc::EMFILE);
            return None;
        };
        let of = |error: io::Error| error.raw_os_error().unwrap_or_default();
        let copies = self.alive.0.try_clone().and_then(|alive| Ok((alive, engine.try_clone()?)));
        let (alive, kept) = match copies {
            Ok(copies) => copies,
            Err(error) => {
                failed(&mut engine, of(error));
                return None;
            }
        };
        match system::fork() {
            Err(error) => failed(&mut engine, of(error)),
            Ok(0) => {
                drop(kept);
                return Some(move || {
                    let run = || init::run(engine, [stdin, stdout, stderr], alive.into());
                    // Not by way of what the launcher does at its end.
                    system::exit(i32::from(catch_unwind(AssertUnwindSafe(run)).is_err()));
                });
            }
            Ok(init) => {
                let text = String::from_utf8_lossy(&message.text).into_owned();
                let (run_id, attempt) = text.split_once(' ').unwrap_or_default();
                let (run_id, attempt) = (run_id.to_owned(), attempt.parse().unwrap_or_default());
                self.launches.push(Launch { init, engine: kept, run_id, attempt, orphaned: false });
            }
        }
        None
    }

    /// Reaps, and ends what an init has left.
    fn care(&mut self, ended: bool) {
        if ended {
            system::forget_signals(&self.signals);
        }
        while let Waited::Ended(pid, status) = system::take_ended() {
            let Some(at) = self.launches.iter().position(|launch| launch.init == pid) else { continue };
            if status == 0 {
                self.launches.swap_remove(at);
            } else {
                // An id that is nobody's any more.
                (self.launches[at].init, self.launches[at].orphaned) = (0, true);
                self.strays.get_or_insert_default();
            }
        }
        if let Some(rounds) = &mut self.strays {
            let launches = &self.launches;
            let is_init = |pid: u32| launches.iter().any(|launch| launch.init == pid);
            rounds.kill(&is_init);
            if children().into_iter().all(is_init) {
                self.launches.retain(|launch| !launch.orphaned);
                self.strays = None;
            }
        }
    }

    fn pause(&self) -> Option<Duration> {
        self.strays.as_ref().map(Rounds::pause)
    }

    /// The engine is gone: what it launched goes with it.
    fn leave(mut self) {
        let marks: Vec<_> =
            self.launches.iter().map(|launch| (launch.run_id.clone(), launch.attempt)).collect();
        for launch in &self.launches {
            let _ = launch.engine.shutdown(Shutdown::Both);
        }
        let until = Instant::now() + LAST;
        while !self.launches.is_empty() && Instant::now() < until {
            let pause = self.pause().unwrap_or(Duration::from_millis(50));
            let [ended] = system::wait_to_read([Some(self.signals.as_fd())], Some(pause));
            self.care(ended);
        }
        let left = || {
            let of = |(run_id, attempt): &(String, u32)| tree::marked(run_id, Some(*attempt));
            marks.iter().filter(|(run_id, _)| !run_id.is_empty()).flat_map(of).collect()
        };
        terminate::terminate(&mut left(), GRACE, left);
    }
}

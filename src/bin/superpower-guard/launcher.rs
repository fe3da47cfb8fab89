//! The launcher: forks an init for each launch, and kills the descendants of an init that was killed.
//!
//! When the engine closes the socket, the launcher waits for every init to end its launch, ends the processes that still
//! have the mark of an active launch, and exits.

use crate::kill_rounds::{Rounds, children};
use crate::launch_protocol::{Answer, Step};
use crate::system::{self, Message, Waited};
use crate::{init, launch_protocol, limit, terminate, tree};
use std::io::{self, PipeReader, PipeWriter, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// How long the inits may take to end their launches when the engine is gone.
const EXIT_WAIT: Duration = Duration::from_millis(1500);
/// Time for processes that are not below an init to end after SIGTERM, before they get SIGKILL.
const GRACE: Duration = Duration::from_millis(200);

/// A launch that is active: its init is running, or descendants of a killed init are left.
struct Launch {
    init: u32,
    /// A copy of the init's socket, so that the engine sees it closed only when nothing is left of the launch.
    engine: UnixStream,
    run_id: String,
    attempt: u32,
    /// Whether the init was killed before its descendants ended.
    orphaned: bool,
}

struct Launcher {
    socket: OwnedFd,
    signals: OwnedFd,
    launches: Vec<Launch>,
    /// Only this process has the write end open, and the inits have the read end, so they see when this process exits.
    alive: (PipeReader, PipeWriter),
    /// Set while descendants of killed inits are killed.
    orphans: Option<Rounds>,
}

/// Serves the engine, whose socket is standard input, until it closes the socket.
pub fn serve() {
    system::own_session();
    system::set_name(launch_protocol::LAUNCHER);
    system::close_others();
    let Ok(launcher) = Launcher::new() else { return };
    launcher.serve();
}

impl Launcher {
    fn new() -> io::Result<Self> {
        system::adopt_orphans()?;
        let socket = system::take_stdin()?;
        let (signals, alive) = (system::child_signals()?, io::pipe()?);
        Ok(Self { socket, signals, launches: Vec::new(), alive, orphans: None })
    }

    fn serve(mut self) {
        loop {
            let [asked, ended] =
                system::wait_to_read([Some(self.socket.as_fd()), Some(self.signals.as_fd())], self.pause());
            self.reap(ended);
            if !asked {
                continue;
            }
            match system::receive(self.socket.as_fd()) {
                Ok(message) if message.text.is_empty() => return self.exit(),
                Ok(message) => match self.launch(message) {
                    Some(init) => {
                        // In the forked process: close everything of the launcher's, above all the pipe that shows that
                        // the launcher is running.
                        drop(self);
                        return init();
                    }
                    None => continue,
                },
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return self.exit(),
            }
        }
    }

    /// Forks an init. In the forked process this returns the function to run there.
    fn launch(
        &mut self,
        message: Message<{ launch_protocol::DESCRIPTORS }>,
    ) -> Option<impl FnOnce() + use<>> {
        let [engine, stdin, stdout, stderr] = message.descriptors;
        let mut engine = UnixStream::from(engine?);
        let failed = |engine: &mut UnixStream, errno| {
            // An error means that the engine is gone.
            let _ = engine.write_all(&Answer::Failed { step: Step::Fork, errno }.bytes());
        };
        let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
            failed(&mut engine, libc::EMFILE);
            return None;
        };
        let of = |error: io::Error| error.raw_os_error().unwrap_or_default();
        let copies = self.alive.0.try_clone().and_then(|alive| Ok((alive, engine.try_clone()?)));
        let (alive, copy) = match copies {
            Ok(copies) => copies,
            Err(error) => {
                failed(&mut engine, of(error));
                return None;
            }
        };
        let text = String::from_utf8_lossy(&message.text).into_owned();
        let (run_id, attempt) = text.split_once(' ').unwrap_or_default();
        let (run_id, attempt) = (run_id.to_owned(), attempt.parse().unwrap_or_default());
        match system::fork() {
            Err(error) => failed(&mut engine, of(error)),
            Ok(0) => {
                drop(copy);
                return Some(move || {
                    limit::set(&run_id, attempt);
                    let run = || init::run(engine, [stdin, stdout, stderr], alive.into());
                    // Exit without running the launcher's own clean-up.
                    system::exit(i32::from(catch_unwind(AssertUnwindSafe(run)).is_err()));
                });
            }
            Ok(init) => {
                self.launches.push(Launch { init, engine: copy, run_id, attempt, orphaned: false });
            }
        }
        None
    }

    /// Reaps children, and kills the descendants of inits that were killed.
    fn reap(&mut self, ended: bool) {
        if ended {
            system::drain_signals(&self.signals);
        }
        while let Waited::Ended(pid, status) = system::reap() {
            let Some(at) = self.launches.iter().position(|launch| launch.init == pid) else { continue };
            if status == 0 {
                self.launches.swap_remove(at);
            } else {
                // Forget the id, because another process may get it.
                (self.launches[at].init, self.launches[at].orphaned) = (0, true);
                self.orphans.get_or_insert_default();
            }
        }
        if let Some(rounds) = &mut self.orphans {
            let launches = &self.launches;
            let is_init = |pid: u32| launches.iter().any(|launch| launch.init == pid);
            rounds.kill(&is_init);
            if children().into_iter().all(is_init) {
                self.launches.retain(|launch| !launch.orphaned);
                self.orphans = None;
            }
        }
    }

    fn pause(&self) -> Option<Duration> {
        self.orphans.as_ref().map(Rounds::pause)
    }

    /// Ends all launches and returns, because the engine is gone.
    fn exit(mut self) {
        let marks: Vec<_> =
            self.launches.iter().map(|launch| (launch.run_id.clone(), launch.attempt)).collect();
        for launch in &self.launches {
            let _ = launch.engine.shutdown(Shutdown::Both);
        }
        let until = Instant::now() + EXIT_WAIT;
        while !self.launches.is_empty() && Instant::now() < until {
            let pause = self.pause().unwrap_or(Duration::from_millis(50));
            let [ended] = system::wait_to_read([Some(self.signals.as_fd())], Some(pause));
            self.reap(ended);
        }
        let left = || {
            let of = |(run_id, attempt): &(String, u32)| tree::marked(run_id, Some(*attempt));
            marks.iter().filter(|(run_id, _)| !run_id.is_empty()).flat_map(of).collect()
        };
        terminate::terminate(&mut left(), GRACE, left);
    }
}

//! The life of a driver process: `superpower drive --root DIR`.

use super::greeting::greet;
use super::listener::{Listener, listen};
use super::start::READY_LINE;
use crate::engine::{Engine, Home};
use rustix::process::setsid;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread::Builder;
use std::time::{Duration, Instant};

/// A driver that has nothing to do leaves after this time.
const IDLE: Duration = Duration::from_secs(5);
/// How long agents have to end when the driver is stopped.
const GRACE: Duration = Duration::from_secs(1);
/// How long to wait for a driver that is about to begin or to end.
const OTHER: Duration = Duration::from_secs(4);

/// Becomes a project's driver, in a process and a session of its own, unless `--foreground` is given. Call it before any
/// thread is started.
///
/// Standard output gets one line: `ready` once the socket is there, else why it is not.
pub fn main(arguments: &[OsString]) -> ExitCode {
    let root = match arguments {
        [root_flag, root, ..] if root_flag == "--root" => PathBuf::from(root),
        _ => {
            say("usage: superpower drive --root DIR [--foreground]");
            return ExitCode::from(2);
        }
    };
    let Ok(root) = crate::store::beneath::real(&root) else {
        say(&format!("\"{}\" is not a folder", root.display()));
        return ExitCode::from(2);
    };
    if root.to_str().is_none() {
        say(&format!("the path is not UTF-8: {}", root.display()));
        return ExitCode::from(2);
    }
    if !arguments.iter().any(|argument| argument == "--foreground") {
        // SAFETY: no other thread exists, so the child may do anything.
        match unsafe { libc::fork() } {
            0 => {}
            -1 => {
                say(&format!("cannot start a process: {}", io::Error::last_os_error()));
                return ExitCode::FAILURE;
            }
            _ => return ExitCode::SUCCESS,
        }
        // It fails where this leads a session already, which is as good.
        let _ = setsid();
    }
    close_inherited();
    // It must not keep a directory from being unmounted.
    let _ = std::env::set_current_dir("/");
    let signals = block_signals();
    match Driver::begin(&root) {
        Ok(Some(driver)) => {
            say(READY_LINE.trim_end());
            leave_streams();
            driver.serve(signals);
            ExitCode::SUCCESS
        }
        Ok(None) => {
            say(READY_LINE.trim_end());
            ExitCode::SUCCESS
        }
        Err(why) => {
            say(&why);
            ExitCode::FAILURE
        }
    }
}

struct Driver {
    engine: Arc<Engine>,
    listener: Listener,
}

impl Driver {
    /// Begins to serve a project; `None` if another process does already.
    fn begin(root: &Path) -> Result<Option<Self>, String> {
        crate::environ::capture();
        crate::process::prepare();
        let engine = Engine::at(Home::Driver);
        let until = Instant::now() + OTHER;
        loop {
            if let Some(listener) = listen(&engine, root, true)? {
                return Ok(Some(Self { engine, listener }));
            }
            // Another one has the lock. Until it greets it is about to listen, or about to end; the client says what else
            // it may be.
            if !matches!(greet(root), Ok(None)) {
                return Ok(None);
            }
            if Instant::now() >= until {
                return Err(
                    "another driver of this project has the lock, but does not accept connections".to_owned()
                );
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Serves until there is nothing to do, or the end is asked for; then ends all that is driven.
    fn serve(self, signals: libc::sigset_t) {
        let end = self.listener.ender();
        let wait = move || {
            let mut signal = 0;
            // SAFETY: the set and the number are locals.
            while unsafe { libc::sigwait(&signals, &mut signal) } != 0 {}
            end();
        };
        let _ = Builder::new().name("superpower-signals".into()).spawn(wait);
        self.listener.wait_for_end(IDLE);
        self.engine.end(GRACE);
    }
}

/// Closes the descriptors that were inherited by accident: a driver would keep them open for hours.
fn close_inherited() {
    #[cfg(target_os = "linux")]
    // SAFETY: nothing of ours is open yet but the standard streams.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0) } == 0;
    #[cfg(not(target_os = "linux"))]
    let closed = false;
    if !closed {
        // SAFETY: as above; a number that is not open is no error.
        unsafe {
            let most = libc::sysconf(libc::_SC_OPEN_MAX).clamp(64, 4096) as i32;
            (3..most).for_each(|descriptor| _ = libc::close(descriptor));
        }
    }
}

/// Blocks the signals that end a driver, in this thread and those that it starts.
fn block_signals() -> libc::sigset_t {
    // SAFETY: the set is a local, filled before it is used.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
            libc::sigaddset(&mut set, signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
        set
    }
}

/// Writes a line to whoever started this.
fn say(line: &str) {
    let _ = rustix::io::write(rustix::stdio::stdout(), format!("{line}\n").as_bytes());
}

/// Lets go of the streams of whoever started this.
fn leave_streams() {
    let flags = rustix::fs::OFlags::RDWR;
    if let Ok(null) = rustix::fs::open("/dev/null", flags, rustix::fs::Mode::empty()) {
        let _ = rustix::stdio::dup2_stdin(&null);
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
}

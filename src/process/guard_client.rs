//! The engine's side of the guard, a small process that ends the launches of an editor that was killed.
//!
//! The guard reads a pipe. The engine reports each launch before it starts, and when nothing of it is left. If the pipe
//! closes while a launch is active, the editor was killed, and the guard ends that launch. The lines are
//! `launch N RUN ATTEMPT`, `group N PID START` and `over N`.

use super::Mark;
use crate::outcome::ProcessRecord;
use crate::sync::locked;
use std::collections::BTreeMap;
use std::ffi::{CStr, OsStr};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

/// The program's name, beside the library.
const PROGRAM: &str = "superpower-guard";

static GUARD: Mutex<Guard> = Mutex::new(Guard { child: None, next: 0, live: BTreeMap::new() });

struct Guard {
    child: Option<Child>,
    next: u64,
    /// The lines about each active launch, for another guard if this one is killed.
    live: BTreeMap<u64, String>,
}

/// A launch that is reported to the guard; dropping it reports that the launch is over.
#[derive(Debug)]
pub struct Guarded(u64);

/// The path of the guard's program, beside this library.
pub fn program() -> Option<PathBuf> {
    // SAFETY: the address is one of this library's own.
    let path = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(program as *const libc::c_void, &mut info) == 0 || info.dli_fname.is_null() {
            return None;
        }
        PathBuf::from(OsStr::from_bytes(CStr::from_ptr(info.dli_fname).to_bytes()))
    };
    // For a program this is its first argument, which may be a mere name: that is not searched for in the working directory.
    let own = Some(path).filter(|path| path.is_absolute()).and_then(|path| path.canonicalize().ok());
    let folder = own.or_else(|| std::env::current_exe().ok())?.parent()?.to_path_buf();
    // Cargo builds a test's program in a directory below that of the guard.
    [folder.join(PROGRAM), folder.parent()?.join(PROGRAM)].into_iter().find(|path| path.is_file())
}

/// Reports to the guard that a launch is about to start.
pub fn announce(mark: &Mark) -> Guarded {
    let mut guard = locked(&GUARD);
    guard.next += 1;
    let id = guard.next;
    let line = format!("launch {id} {} {}\n", mark.run_id.replace(char::is_whitespace, "_"), mark.launch);
    guard.live.insert(id, line.clone());
    guard.write_line(&line);
    Guarded(id)
}

impl Guarded {
    /// Reports the process of the launch.
    pub fn started(&mut self, record: &ProcessRecord) {
        let mut guard = locked(&GUARD);
        let line = format!("group {} {} {}\n", self.0, record.pid, record.start_time);
        guard.live.entry(self.0).or_default().push_str(&line);
        guard.write_line(&line);
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let mut guard = locked(&GUARD);
        guard.live.remove(&self.0);
        guard.write_line(&format!("over {}\n", self.0));
    }
}

impl Guard {
    /// Writes a line. If the guard is not running, starts one and writes the lines of all active launches.
    fn write_line(&mut self, line: &str) {
        let written = self
            .child
            .as_mut()
            .and_then(|child| child.stdin.as_mut())
            .map(|pipe| pipe.write_all(line.as_bytes()));
        if matches!(written, Some(Ok(()))) || self.live.is_empty() {
            return;
        }
        if let Some(mut dead) = self.child.take() {
            drop(dead.stdin.take());
            let _ = dead.wait();
        }
        let Some(program) = program() else { return };
        let mut command = Command::new(program);
        // It must not keep a directory, a terminal or a pipe of the editor open.
        command
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let Ok(mut child) = command.spawn() else { return };
        let all: String = self.live.values().map(String::as_str).collect();
        if child.stdin.as_mut().is_some_and(|pipe| pipe.write_all(all.as_bytes()).is_ok()) {
            self.child = Some(child);
        }
    }
}

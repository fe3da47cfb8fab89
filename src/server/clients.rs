//! The clients of a socket, and when its process may end.

use crate::engine::Engine;
use crate::store::beneath;
use crate::sync::{locked, wait_until};
use std::collections::HashMap;
use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// Clients at a time.
const MAX_CLIENTS: usize = 64;
/// How often the end of a drive is looked for, once it is waited for.
const SOON: Duration = Duration::from_millis(100);
/// How often it is looked for otherwise, and whether the project is still there.
const LOOK: Duration = Duration::from_secs(1);
/// How long a client that is dropped at the end may take to get its last lines.
const LAST: Duration = Duration::from_millis(200);

/// The clients of a socket.
pub(super) struct Clients {
    pub(super) engine: Arc<Engine>,
    pub(super) root: PathBuf,
    /// Whether this process only drives.
    pub(super) driver: bool,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    all: HashMap<u64, UnixStream>,
    next: u64,
    /// The end was asked for: at once, or when nothing is driven.
    leave: Option<When>,
    closed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum When {
    Idle,
    Now,
}

/// A client, until this is dropped.
pub(super) struct Admitted {
    pub(super) clients: Arc<Clients>,
    id: u64,
}

impl Drop for Admitted {
    fn drop(&mut self) {
        locked(&self.clients.state).all.remove(&self.id);
        self.clients.changed.notify_all();
    }
}

impl Clients {
    pub(super) fn new(engine: Arc<Engine>, root: &Path, driver: bool) -> Arc<Self> {
        let root = root.to_owned();
        Arc::new(Self { engine, root, driver, state: Mutex::default(), changed: Condvar::new() })
    }

    /// Adds a client; `None` if there are too many, or the end has come.
    pub(super) fn admit(self: &Arc<Self>, stream: &UnixStream) -> Option<Admitted> {
        let kept = stream.try_clone().ok()?;
        let mut state = locked(&self.state);
        if state.closed || state.all.len() >= MAX_CLIENTS {
            return None;
        }
        state.next += 1;
        let id = state.next;
        state.all.insert(id, kept);
        drop(state);
        self.changed.notify_all();
        Some(Admitted { clients: self.clone(), id })
    }

    /// Asks for the end. Returns whether it comes at once.
    pub(super) fn leave(&self, now: bool) -> bool {
        let idle = !self.engine.is_driving();
        let mut state = locked(&self.state);
        let when = if now { When::Now } else { When::Idle };
        state.leave = state.leave.max(Some(when));
        drop(state);
        self.changed.notify_all();
        now || idle
    }

    /// Waits until the process may end: it was asked to, or has had neither a client nor a run for `idle`. From then on
    /// nobody is admitted.
    pub(super) fn wait_for_end(&self, idle: Duration) {
        let (mut since, mut missing) = (Instant::now(), None::<Instant>);
        let mut state = locked(&self.state);
        loop {
            let driving = self.engine.is_driving();
            let asked = match state.leave {
                Some(When::Now) => true,
                Some(When::Idle) => !driving,
                None => false,
            };
            if driving || !state.all.is_empty() {
                since = Instant::now();
            }
            // A project that was deleted has nothing to drive, and no editor could find its runs.
            missing = if self.is_missing() { missing.or(Some(Instant::now())) } else { None };
            let asked = asked || missing.is_some_and(|missing| missing.elapsed() >= idle);
            if asked || since.elapsed() >= idle {
                state.closed = true;
                return;
            }
            // Neither the end of a drive nor that of the project tells anybody here.
            let look = if state.leave.is_some() { SOON } else { LOOK };
            state = wait_until(&self.changed, state, Instant::now() + look.min(idle));
        }
    }

    /// Whether the project's folder is gone.
    fn is_missing(&self) -> bool {
        beneath::real(&self.root).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    /// Drops all clients, once they have got what was sent last.
    pub(super) fn close(&self) {
        let all: Vec<UnixStream> = {
            let mut state = locked(&self.state);
            state.closed = true;
            state.all.values().filter_map(|stream| stream.try_clone().ok()).collect()
        };
        if !all.is_empty() {
            std::thread::sleep(LAST);
        }
        for stream in all {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

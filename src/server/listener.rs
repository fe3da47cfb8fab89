//! Listens on a project's socket and serves whoever connects.

use super::attached;
use super::place::{Lock, Place};
use crate::engine::Engine;
use crate::sync::{locked, wait_until};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{CWD, Mode, chmodat};
use std::collections::HashMap;
use std::io;
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Clients at a time.
const MAX_CLIENTS: usize = 64;
/// How long a client that is dropped at the end may take to get its last lines.
const LAST: Duration = Duration::from_millis(200);

/// What the clients of a listener share.
pub(super) struct Shared {
    pub(super) engine: Arc<Engine>,
    pub(super) root: PathBuf,
    /// Whether this process only drives.
    pub(super) driver: bool,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    clients: HashMap<u64, UnixStream>,
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

/// A socket that is listened on; closed and removed when this is dropped.
pub struct Listener {
    shared: Arc<Shared>,
    place: Place,
    lock: Lock,
    /// Ends the thread that accepts clients.
    wake: Option<io::PipeWriter>,
}

/// Listens on a project's socket; `None` if another process does.
pub fn listen(engine: &Arc<Engine>, root: &Path, driver: bool) -> Result<Option<Listener>, String> {
    let place = Place::of(root)?;
    let socket = place.socket();
    let failed = |error: io::Error| format!("cannot listen on \"{}\": {error}", socket.display());
    let Some(lock) = place.lock().map_err(failed)? else { return Ok(None) };
    // Whatever lies there is left over, since its owner would hold the lock.
    place.clear(&lock).map_err(failed)?;
    let listener = UnixListener::bind(&socket).map_err(failed)?;
    chmodat(CWD, &socket, Mode::RUSR | Mode::WUSR, rustix::fs::AtFlags::empty())
        .map_err(|error| failed(error.into()))?;
    let (sleep, wake) = io::pipe().map_err(failed)?;
    let shared = Arc::new(Shared {
        engine: engine.clone(),
        root: root.to_owned(),
        driver,
        state: Mutex::default(),
        changed: Condvar::new(),
    });
    let accepting = shared.clone();
    Builder::new()
        .name("superpower-listen".into())
        .spawn(move || accept(&accepting, &listener, &sleep))
        .map_err(failed)?;
    Ok(Some(Listener { shared, place, lock, wake: Some(wake) }))
}

fn accept(shared: &Arc<Shared>, listener: &UnixListener, sleep: &io::PipeReader) {
    loop {
        let mut ready = [PollFd::new(listener, PollFlags::IN), PollFd::new(sleep, PollFlags::IN)];
        match poll(&mut ready, None) {
            Ok(_) if !ready[1].revents().is_empty() => return,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
        if ready[0].revents().is_empty() {
            continue;
        }
        match listener.accept() {
            Ok((stream, _)) => shared.admit(stream),
            // Too many open files, for example: whoever waits is served later.
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}

impl Shared {
    /// Serves a client on a thread of its own.
    fn admit(self: &Arc<Self>, stream: UnixStream) {
        let Ok(kept) = stream.try_clone() else { return };
        let id = {
            let mut state = locked(&self.state);
            if state.closed || state.clients.len() >= MAX_CLIENTS {
                return;
            }
            state.next += 1;
            let id = state.next;
            state.clients.insert(id, kept);
            id
        };
        self.changed.notify_all();
        let admitted = Admitted(self.clone(), id);
        // Where no thread can be started, dropping it is the end.
        let _ = Builder::new()
            .name("superpower-client".into())
            .spawn(move || attached::serve(admitted.0.clone(), stream));
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
}

/// A client, until this is dropped.
struct Admitted(Arc<Shared>, u64);

impl Drop for Admitted {
    fn drop(&mut self) {
        locked(&self.0.state).clients.remove(&self.1);
        self.0.changed.notify_all();
    }
}

impl Listener {
    /// Ends the wait below, from another thread.
    pub(super) fn ender(&self) -> impl Fn() + Send + 'static {
        let shared = self.shared.clone();
        move || _ = shared.leave(true)
    }

    /// Waits until the driver may end: it was asked to, or has had neither a client nor a run for `idle`. From then on
    /// nobody is served.
    pub fn wait_for_end(&self, idle: Duration) {
        let mut since = Instant::now();
        let mut state = locked(&self.shared.state);
        loop {
            let driving = self.shared.engine.is_driving();
            let asked = match state.leave {
                Some(When::Now) => true,
                Some(When::Idle) => !driving,
                None => false,
            };
            if driving || !state.clients.is_empty() {
                since = Instant::now();
            }
            if asked || since.elapsed() >= idle {
                state.closed = true;
                return;
            }
            // The end of a drive is seen by looking.
            let look = if driving || state.leave.is_some() { Duration::from_millis(200) } else { idle };
            state = wait_until(&self.shared.changed, state, Instant::now() + look.min(idle));
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = self.place.leave(&self.lock);
        drop(self.wake.take());
        let clients: Vec<UnixStream> = {
            let mut state = locked(&self.shared.state);
            state.closed = true;
            state.clients.values().filter_map(|stream| stream.try_clone().ok()).collect()
        };
        if !clients.is_empty() {
            std::thread::sleep(LAST);
        }
        for stream in clients {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

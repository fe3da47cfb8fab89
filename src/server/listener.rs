//! Listens on a project's socket and serves whoever connects.

use super::client_session;
use super::clients::Clients;
use super::socket_path::{Lock, SocketPath};
use crate::engine::Engine;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{AtFlags, CWD, Mode, chmodat};
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::thread::Builder;
use std::time::Duration;

/// A socket that is listened on; closed and removed when this is dropped.
pub struct Listener {
    clients: Arc<Clients>,
    place: SocketPath,
    lock: Lock,
    /// Ends the thread that accepts clients.
    wake: Option<io::PipeWriter>,
}

/// Listens on a project's socket; `None` if another process does.
pub fn listen(engine: &Arc<Engine>, root: &Path, driver: bool) -> Result<Option<Listener>, String> {
    let place = SocketPath::of(root)?;
    let socket = place.socket();
    let failed = |error: io::Error| format!("cannot listen on \"{}\": {error}", socket.display());
    let Some(lock) = place.lock().map_err(failed)? else { return Ok(None) };
    // Whatever lies there is left over, since its owner would hold the lock.
    place.clear(&lock).map_err(failed)?;
    let listener = UnixListener::bind(&socket).map_err(failed)?;
    chmodat(CWD, &socket, Mode::RUSR | Mode::WUSR, AtFlags::empty()).map_err(|error| failed(error.into()))?;
    let (sleep, wake) = io::pipe().map_err(failed)?;
    let clients = Clients::new(engine.clone(), root, driver);
    let accepting = clients.clone();
    Builder::new()
        .name("superpower-listen".into())
        .spawn(move || accept(&accepting, &listener, &sleep))
        .map_err(failed)?;
    Ok(Some(Listener { clients, place, lock, wake: Some(wake) }))
}

fn accept(clients: &Arc<Clients>, listener: &UnixListener, sleep: &io::PipeReader) {
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
            Ok((stream, _)) => serve(clients, stream),
            // Too many open files, for example: whoever waits is served later.
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}

/// Serves a client on a thread of its own; where none can be started the client is dropped.
fn serve(clients: &Arc<Clients>, stream: UnixStream) {
    if let Some(admitted) = clients.admit(&stream) {
        let _ = Builder::new()
            .name("superpower-client".into())
            .spawn(move || client_session::serve(admitted.clients.clone(), stream));
    }
}

impl Listener {
    /// Ends the wait below, from another thread.
    pub(super) fn ender(&self) -> impl Fn() + Send + 'static {
        let clients = self.clients.clone();
        move || _ = clients.leave(true)
    }

    /// Waits until the driver may end: it was asked to, or has had neither a client nor a run for `idle`. From then on
    /// nobody is served.
    pub fn wait_for_end(&self, idle: Duration) {
        self.clients.wait_for_end(idle);
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = self.place.leave(&self.lock);
        drop(self.wake.take());
        self.clients.close();
    }
}

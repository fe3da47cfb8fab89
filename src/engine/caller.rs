//! Who asks for an operation: this process, or the peer of a socket.

use crate::config::Config;
use crate::environ::{self, Variables};
use crate::outcome::ProcessRecord;
use std::cell::RefCell;
use std::sync::Arc;

/// A process at the other end of a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Which process exactly.
    pub process: ProcessRecord,
    /// What it runs, by its short name.
    pub program: Option<String>,
}

/// What counts for a peer's requests in place of this process's own.
#[derive(Clone, Debug)]
pub struct CallerSettings {
    pub config: Arc<Config>,
    pub environment: Arc<Variables>,
}

/// The peer, and its configuration where it has brought one.
type Caller = (Peer, Option<Arc<Config>>);

thread_local! {
    static CALLER: RefCell<Option<Caller>> = const { RefCell::new(None) };
}

/// The peer whose request this thread performs; none where this process itself asks.
pub fn peer() -> Option<Peer> {
    CALLER.with_borrow(|caller| caller.as_ref().map(|(peer, _)| peer.clone()))
}

/// The configuration of that peer, where it has brought one.
pub fn config() -> Option<Arc<Config>> {
    CALLER.with_borrow(|caller| caller.as_ref().and_then(|(_, config)| config.clone()))
}

/// Performs `work` as this peer's request. Its settings count for nothing else that happens meanwhile.
pub fn on_behalf<T>(peer: Peer, settings: Option<CallerSettings>, work: impl FnOnce() -> T) -> T {
    struct Restore(Option<Caller>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CALLER.set(self.0.take());
        }
    }
    let (config, environment) = settings.map(|it| (it.config, it.environment)).unzip();
    let _restore = Restore(CALLER.replace(Some((peer, config))));
    environ::within(environment, work)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_what_is_done_on_behalf_of_a_peer() {
        let process = ProcessRecord { pid: 7, start_time: 1, boot_id: "boot".into() };
        let somebody = Peer { process, program: None };
        let settings = CallerSettings { config: Arc::default(), environment: Arc::default() };
        let asked = on_behalf(somebody.clone(), Some(settings.clone()), || (peer(), config().is_some()));
        assert_eq!(asked, (Some(somebody.clone()), true));
        let panicked =
            std::panic::catch_unwind(|| on_behalf(somebody, Some(settings), || panic!("in the request")));
        assert!(panicked.is_err());
        assert_eq!((peer(), config().is_some()), (None, false));
    }
}

//! Who asks for an operation: this process, or the peer of a socket.

use crate::outcome::ProcessRecord;
use std::cell::RefCell;

/// A process at the other end of a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Which process exactly.
    pub process: ProcessRecord,
    /// What it runs, by its short name.
    pub program: Option<String>,
}

thread_local! {
    static PEER: RefCell<Option<Peer>> = const { RefCell::new(None) };
}

/// The peer whose request this thread performs; none where this process itself asks.
pub fn peer() -> Option<Peer> {
    PEER.with_borrow(Clone::clone)
}

/// Performs `work` as this peer's request.
pub fn on_behalf<T>(peer: Option<Peer>, work: impl FnOnce() -> T) -> T {
    struct Restore(Option<Peer>);
    impl Drop for Restore {
        fn drop(&mut self) {
            PEER.set(self.0.take());
        }
    }
    let _restore = Restore(PEER.replace(peer));
    work()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_what_is_done_on_behalf_of_a_peer() {
        let process = ProcessRecord { pid: 7, start_time: 1, boot_id: "boot".into() };
        let somebody = Some(Peer { process, program: None });
        let asked = on_behalf(somebody.clone(), peer);
        assert_eq!(asked, somebody);
        let panicked = std::panic::catch_unwind(|| on_behalf(somebody, || panic!("in the request")));
        assert!(panicked.is_err());
        assert_eq!(peer(), None);
    }
}

//! An editor inside of a run. What a stage started does not decide, drive, trust or finish: that is for humans.

use super::caller::Peer;
use super::core::Engine;
use super::refusal::Refusal;
use crate::process::{Ancestry, RUN_ID, alive, ancestry, ancestry_of};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether this process has warned that it cannot see ancestors; once is enough.
static SAID: AtomicBool = AtomicBool::new(false);

/// Whether this process itself is inside of a run.
pub(super) fn is_nested() -> bool {
    ancestry() == Ancestry::Launched || crate::environ::get(RUN_ID).is_some()
}

/// Refuses where whoever asks descends from a stage's process: this process, or the peer.
///
/// Ancestors tell; where those cannot be seen, and beside them, so does the mark that every process of a run has in its
/// environment.
pub(super) fn refuse(
    engine: &Engine,
    what: &str,
    root: Option<&Path>,
    peer: Option<&Peer>,
) -> Result<(), Refusal> {
    if let Some(peer) = peer {
        return refuse_peer(what, peer);
    }
    if is_nested() {
        return Err(Refusal::Nested { what: what.to_owned() });
    }
    // Other systems have no `/proc`: there the help says so, once for all.
    if cfg!(target_os = "linux")
        && ancestry() == Ancestry::Unknown
        && let Some(root) = root
        && !SAID.swap(true, Ordering::Relaxed)
    {
        engine.notice(root, "warn", UNSEEN);
    }
    Ok(())
}

/// Refuses a peer that is below an agent, or of which that cannot be known: it has ended, or its id is another's now.
pub(super) fn refuse_peer(what: &str, peer: &Peer) -> Result<(), Refusal> {
    let ancestry = ancestry_of(peer.process.pid);
    let marked = crate::process::is_marked(peer.process.pid);
    // Looked at last, so that all of the above was about this very process.
    let known = alive(&peer.process) && (ancestry != Ancestry::Unknown || cfg!(not(target_os = "linux")));
    if !known || marked || ancestry == Ancestry::Launched {
        return Err(Refusal::Nested { what: what.to_owned() });
    }
    Ok(())
}

/// Without `/proc` the ancestors of a process cannot be seen.
const UNSEEN: &str = "cannot see which process started which (no /proc): a process of an agent is known by its \
                      environment only, and may outlive its stage in a group of its own";

//! An editor inside of a run. What a stage started does not decide, drive, trust or finish: that is for humans.

use super::core::Engine;
use super::refusal::Refusal;
use crate::process::{Ancestry, RUN_ID, ancestry};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Said at most once by this process.
static SAID: AtomicBool = AtomicBool::new(false);

/// Refuses where this process descends from a stage's, by its ancestors; where those cannot be seen, and beside them, by
/// the mark that every process of a run has in its environment.
pub(super) fn refuse(engine: &Engine, what: &str, root: Option<&Path>) -> Result<(), Refusal> {
    let ancestry = ancestry();
    if ancestry == Ancestry::Launched || crate::environ::get(RUN_ID).is_some() {
        return Err(Refusal::Nested { what: what.to_owned() });
    }
    // Where no system has it the help says so.
    if ancestry == Ancestry::Unknown
        && cfg!(target_os = "linux")
        && let Some(root) = root
        && !SAID.swap(true, Ordering::Relaxed)
    {
        engine.notice(root, "warn", UNSEEN);
    }
    Ok(())
}

/// Without `/proc` nobody is told from anybody else.
const UNSEEN: &str = "cannot see which process started which (no /proc): a process of an agent is known by its \
                      environment only, and may outlive its stage in a group of its own";

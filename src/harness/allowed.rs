//! What humans allowed for the rest of a run, and what agents hear where nobody allows a thing.

use crate::sync::locked;
use std::collections::BTreeSet;
use std::sync::Mutex;

/// What an agent hears where nobody is there.
pub const NOBODY: &str =
    "Nobody is there to allow this. Go on without it, or finish and say what it is needed for.";
/// What it hears where a human says no, and not why.
pub const DENIED: &str = "The user does not allow this.";

/// Tools by the run's id. It is this editor's memory only: another one asks.
static ALLOWED: Mutex<BTreeSet<(String, String)>> = Mutex::new(BTreeSet::new());

/// Whether a human allowed this tool for all of this run.
pub fn is_allowed(run_id: &str, tool: &str) -> bool {
    locked(&ALLOWED).contains(&(run_id.to_owned(), tool.to_owned()))
}

/// A human allows this tool for all of this run: later launches of it are not asked again.
pub fn allow(run_id: &str, tool: &str) {
    locked(&ALLOWED).insert((run_id.to_owned(), tool.to_owned()));
}

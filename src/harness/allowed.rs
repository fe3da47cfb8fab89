//! Permissions that users granted for the rest of a run, and what agents are told when a permission is denied.

use crate::sync::locked;
use std::collections::BTreeSet;
use std::sync::Mutex;

/// What an agent is told if there is no user to ask.
pub const UNATTENDED: &str =
    "Nobody is there to allow this. Continue without it, or finish and say what it is needed for.";
/// What an agent is told if the user denies a permission without a reason.
pub const DENIED: &str = "The user does not allow this.";

/// Allowed tools, by run id. Kept in memory, so that another editor asks again.
static ALLOWED: Mutex<BTreeSet<(String, String)>> = Mutex::new(BTreeSet::new());

/// Whether the user has allowed this tool for the whole run.
pub fn is_allowed(run_id: &str, tool: &str) -> bool {
    locked(&ALLOWED).contains(&(run_id.to_owned(), tool.to_owned()))
}

/// Allows this tool for the whole run, later launches included.
pub fn allow(run_id: &str, tool: &str) {
    locked(&ALLOWED).insert((run_id.to_owned(), tool.to_owned()));
}

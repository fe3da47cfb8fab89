//! Finds a run by its id or by the start of an id.

use crate::engine::refusal::Refusal;
use crate::runs::open_error::OpenError;
use crate::store::rundir::{self, RunDir};
use crate::store::squad;
use std::path::Path;

/// The run with this id, or with an id that starts like this.
pub fn resolve_id(root: &Path, given: &str) -> Result<String, Refusal> {
    let dir = RunDir::of(root, given).map_err(OpenError::from)?;
    let is_current =
        || squad::read(root).ok().flatten().and_then(|squad| squad.run_id).as_deref() == Some(given);
    // A current run without files is accepted here, because its own refusal says what to do.
    if dir.door().is_dir(dir.path()) || is_current() {
        return Ok(given.to_owned());
    }
    starting_with(root, given)?.ok_or_else(|| Refusal::UnknownRun(given.to_owned()))
}

/// The only run whose id starts like this, if there is one.
pub fn starting_with(root: &Path, start: &str) -> Result<Option<String>, Refusal> {
    let mut ids: Vec<String> = rundir::ids(root).into_iter().filter(|id| id.starts_with(start)).collect();
    if ids.len() > 1 {
        return Err(Refusal::AmbiguousRun { start: start.to_owned(), runs: ids });
    }
    Ok(ids.pop())
}

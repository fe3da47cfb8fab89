//! A run that is named by its id, of which a start is enough.

use crate::engine::refusal::Refusal;
use crate::runs::open_error::OpenError;
use crate::store::rundir::{self, RunDir};
use crate::store::squad;
use std::path::Path;

/// The run of this id, or of this start of one.
pub fn identified(root: &Path, given: &str) -> Result<String, Refusal> {
    let dir = RunDir::of(root, given).map_err(OpenError::from)?;
    let is_current =
        || squad::read(root).ok().flatten().and_then(|squad| squad.run_id).as_deref() == Some(given);
    // Of one whose files are gone it is said what can be done.
    if dir.door().is_dir(dir.path()) || is_current() {
        return Ok(given.to_owned());
    }
    begins(root, given)?.ok_or_else(|| Refusal::UnknownRun(given.to_owned()))
}

/// The run whose id begins so, if it is one alone.
pub fn begins(root: &Path, start: &str) -> Result<Option<String>, Refusal> {
    let mut ids: Vec<String> = rundir::ids(root).into_iter().filter(|id| id.starts_with(start)).collect();
    if ids.len() > 1 {
        return Err(Refusal::AmbiguousRun { start: start.to_owned(), runs: ids });
    }
    Ok(ids.pop())
}

//! Takes the lease for a drive; and why a drive could not start.

use crate::run::machine::Refusal;
use crate::runs::open_error::OpenError;
use crate::store::journal::JournalError;
use crate::store::lease::{self, Holder, Lease, Taken};
use std::io;
use std::path::Path;
use thiserror::Error;

/// Why a drive could not start.
#[derive(Debug, Error)]
pub enum StartError {
    #[error("{}", elsewhere(.0.as_ref()))]
    DrivenElsewhere(Option<Holder>),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("cannot write below \".claude/state\": {0}")]
    Disk(#[from] io::Error),
    /// The machine refuses the request.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

fn elsewhere(holder: Option<&Holder>) -> String {
    match holder {
        Some(holder) => format!(
            "{} is driven by another editor (process {}); decide there, or leave it first",
            holder.superpower, holder.pid
        ),
        None => "another editor is driving a run of this project; decide there, or leave it first".into(),
    }
}

/// Takes the lease of a project.
pub(super) fn lock(root: &Path) -> Result<Lease, StartError> {
    match lease::take(root)? {
        Taken::Ours(lease) => Ok(lease),
        Taken::Elsewhere(holder) => Err(StartError::DrivenElsewhere(holder)),
    }
}

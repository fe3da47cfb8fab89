//! The lock that a drive holds, and why a drive did not begin.

use crate::run::machine::Refusal;
use crate::runs::open_error::OpenError;
use crate::store::journal::JournalError;
use crate::store::lease::{self, Holder, Lease, Taken};
use std::io;
use std::path::Path;
use thiserror::Error;

/// Why a drive did not begin.
#[derive(Debug, Error)]
pub enum StartError {
    /// Another editor drives.
    #[error("{}", elsewhere(.0.as_ref()))]
    DrivenElsewhere(Option<Holder>),
    /// The run cannot be read.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The journal cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The state directory cannot be written.
    #[error("cannot write below \".claude/state\": {0}")]
    Disk(#[from] io::Error),
    /// The machine says no.
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

/// Takes the drive lock.
pub(super) fn lock(root: &Path) -> Result<Lease, StartError> {
    match lease::take(root)? {
        Taken::Ours(lease) => Ok(lease),
        Taken::Elsewhere(holder) => Err(StartError::DrivenElsewhere(holder)),
    }
}

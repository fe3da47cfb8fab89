//! Why a run could not be opened.

use crate::store::journal::JournalError;
use crate::store::names::NotARunId;
use thiserror::Error;

/// Why a run could not be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The id is not one that a run can have.
    #[error(transparent)]
    Name(#[from] NotARunId),
    #[error("unknown run \"{0}\"")]
    Missing(String),
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The run's own copy of the declaration.
    #[error("cannot use the run's copy of the declaration, \"{name}\": {why}")]
    Declaration {
        /// The copy's file name.
        name: String,
        why: String,
    },
}
